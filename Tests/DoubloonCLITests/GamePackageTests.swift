import ArgumentParser
import Glibc
import ServerConfiguration
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI

/// `doubloon new`: what it writes is Examples/OwnGame under another name, whole or not at all.
@Suite struct GamePackageTests {
  /// The checkout that these tests were compiled in.
  static let checkout = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

  /// The files below a folder that somebody wrote, sorted.
  private static func files(in folder: String, below path: String = "") -> [String] {
    guard let directory = opendir("\(folder)/\(path)") else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if [".", "..", ".build", ".swiftpm", ".doubloon", "Package.resolved"].contains(name) { continue }
      let inner = path.isEmpty ? name : "\(path)/\(name)"
      found += FileBytes.isFolder("\(folder)/\(inner)") ? files(in: folder, below: inner) : [inner]
    }
    return found.sorted()
  }

  private static func text(_ path: String) throws -> String { String(decoding: try FileBytes.read(path), as: UTF8.self) }

  @Test("The template is the example, file by file and byte by byte")
  func template() throws {
    let example = "\(Self.checkout)/Examples/OwnGame"
    #expect(GameTemplate.files.map(\.path).sorted() == Self.files(in: example))
    for file in GameTemplate.files {
      #expect(try FileBytes.read("\(example)/\(file.path)") == file.bytes, "\(file.path)")
    }
    // Where the names are the example's, only the lines go that tell a test where a text comes from.
    for file in GameTemplate(name: GameTemplate.example, source: .checkout("../..")).rendered() {
      let lines = try Self.text("\(example)/\(file.path)").split(separator: "\n", omittingEmptySubsequences: false)
      let kept = lines.filter { !$0.hasPrefix("<!-- Examples/") }.joined(separator: "\n")
      #expect(String(decoding: file.bytes, as: UTF8.self) == kept, "\(file.path)")
    }
  }

  @Test("A package is written under the game's name, with its rules, and says what to do next")
  func command() async throws {
    let folder = TemporaryFolder()
    let run = await CommandRun(["new", folder.file("games/HTTPIsland2")])
    #expect(run.code == 0, "\(run.err)")
    let package = folder.file("games/HTTPIsland2")
    #expect(run.out.hasPrefix("HTTPIsland2 is in \(package). Now:\n"))
    #expect(run.out.contains("export SWIFTPM_BUILD_DIR=\"\(Self.checkout)/.build\""))
    let files = Self.files(in: package)
    #expect(files.count == GameTemplate.files.count)
    #expect(files.contains("http-island2.service"))
    #expect(files.contains("Tests/HTTPIsland2FunctionsTests/TreasureHuntTests.swift"))
    for file in files {
      let text = try Self.text("\(package)/\(file)")
      for rest in ["OwnGame", "own-game", "../..", "Examples/OwnGame"] {
        #expect(!text.split(separator: "\n").contains { $0.contains(rest) }, "\(file) still says \(rest)")
      }
    }
    let manifest = try Self.text("\(package)/Package.swift")
    #expect(manifest.contains("path: Context.environment[\"DOUBLOON_PATH\"] ?? \"\(Self.checkout)\")"))
    #expect(manifest.contains("name: \"HTTPIsland2Functions\""))
    let rules = await CommandRun(["rules", "test", "\(package)/rules-test.json"])
    #expect(rules.code == 0, "\(rules.out)\(rules.err)")
  }

  @Test("A folder that holds something is left as it is, and nothing stays of what could not be written")
  func wholeOrNotAtAll() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("Island")
    try PackageFolder(path: path).write([GameTemplate.File(path: "a/b", bytes: [1])])
    let again = await CommandRun(["new", path])
    #expect(again.code == 1)
    #expect(again.err.contains("\(path) is there already, and not empty."))
    #expect(Self.files(in: path) == ["a/b"])

    // The second file needs a folder where the first one is.
    let broken = [GameTemplate.File(path: "deep/a", bytes: [1]), GameTemplate.File(path: "deep/a/b", bytes: [1])]
    #expect(throws: FileError.self) { try PackageFolder(path: folder.file("Other")).write(broken) }
    #expect(Self.files(in: folder.path) == ["Island/a/b"])

    mkdir(folder.file("Empty"), 0o755)
    try PackageFolder(path: folder.file("Empty")).write([GameTemplate.File(path: "c", bytes: [1])])
    #expect(Self.files(in: folder.file("Empty")) == ["c"])
  }

  @Test(
    "A name is one that Swift takes, and that nothing else has",
    arguments: [
      ("MyGame", nil), ("mygame", nil), ("My_Game2", nil), ("my-game", "Try MyGame."), ("2nd", "Try nd."), ("", "2 to 40"),
      ("A", "2 to 40"), ("Schatzjäger", "letters from A to Z"), ("class", "Try ClassGame."), ("Links", "Try LinksGame."),
      ("doubloon", "name of a module"), ("Swift", "name of a module"),
      ("AGameWithANameThatIsMuchTooLongForAnything", "2 to 40"),
    ] as [(String, String?)])
  func names(_ name: String, _ complaint: String?) async throws {
    do {
      #expect(try GameName(name).text == name)
      #expect(complaint == nil)
    } catch let error as ValidationError {
      #expect(error.message.contains(complaint ?? "nothing"), "\(error.message)")
    }
  }

  @Test("The name with hyphens has the words of the other")
  func hyphens() {
    let expected = ["MyGame": "my-game", "HTTPGame": "http-game", "Game2Go": "game2-go", "my_game": "my-game", "X_Y": "x-y"]
    for (name, hyphenated) in expected { #expect(GameName.hyphenated(name) == hyphenated) }
  }

  @Test("Every module of Doubloon is among the names that a game cannot have")
  func takenNames() throws {
    var modules: Set<String> = ["Functions", "Doubloon", "DoubloonEngine"]
    for file in Self.files(in: "\(Self.checkout)/Sources") { modules.insert(String(file.split(separator: "/")[0])) }
    #expect(modules.subtracting(GameName.taken) == [])
  }

  @Test("Doubloon is taken from the folder or the repository that is named")
  func sources() throws {
    let url = "https://example.com/studio/Doubloon.git"
    let source = try DoubloonSource(url, program: nil, version: "doubloon 1.2.3 (0123abc)")
    #expect(source == .repository(url: url, requirement: "from: \"1.2.3\""))
    let files = GameTemplate(name: try GameName("MyGame"), source: source).rendered()
    let manifest = String(decoding: files[0].bytes, as: UTF8.self)
    #expect(manifest.contains(".package(url: \"\(url)\", from: \"1.2.3\")\n"))
    #expect(manifest.contains(".product(name: \"ServerApp\", package: \"doubloon\")"))
    #expect(!manifest.contains("DOUBLOON_PATH\"]"))
    #expect(
      try DoubloonSource("ssh://git@x/engine", program: nil, version: "doubloon 0.1.0-dev (0123abc)")
        == .repository(url: "ssh://git@x/engine", requirement: "branch: \"main\""))
    #expect(try DoubloonSource(nil, program: "\(Self.checkout)/.build/debug/doubloon", version: "") == .checkout(Self.checkout))
    let lost = #expect(throws: CommandError.self) { try DoubloonSource(nil, program: "/usr/bin/env", version: "") }
    #expect(lost?.message.contains("--doubloon") == true)
    #expect(throws: CommandError.self) { try DoubloonSource("/tmp", program: nil, version: "") }
    #expect(throws: ValidationError.self) { try DoubloonSource("/a\"b", program: nil, version: "") }
  }
}
