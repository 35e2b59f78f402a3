/// The package of `doubloon new`: the files of `Examples/OwnGame`, which are built and tested there, with other names.
///
/// They are embedded by links in the folder `Template`, so that there is one source; a test compares the list with the folder.
struct GameTemplate {
  /// A file of the package.
  struct File: Sendable, Equatable {
    /// Its path in the package, with `/`.
    let path: String
    let bytes: [UInt8]
  }

  /// What the example is called, in code and where only small letters and hyphens are allowed.
  static let example = GameName(text: "OwnGame", hyphenated: "own-game")
  /// Where the example has Doubloon.
  static let examplePath = "../.."

  /// The example's files, as they are.
  static let files: [File] = [
    File(path: "Package.swift", bytes: PackageResources.Package_swift_txt),
    File(path: "README.md", bytes: PackageResources.README_md_txt),
    File(path: ".gitignore", bytes: PackageResources.gitignore_txt),
    File(path: ".dockerignore", bytes: PackageResources.dockerignore_txt),
    File(path: "rules.json", bytes: PackageResources.rules_json_txt),
    File(path: "rules-test.json", bytes: PackageResources.rules_test_json_txt),
    File(path: "doubloon.jsonc", bytes: PackageResources.doubloon_jsonc_txt),
    File(path: "own-game.service", bytes: PackageResources.own_game_service_txt),
    File(path: "Dockerfile", bytes: PackageResources.Dockerfile_txt),
    File(path: "Scripts/release.json", bytes: PackageResources.release_json_txt),
    File(path: ".github/workflows/test.yml", bytes: PackageResources.test_yml_txt),
    File(path: "Sources/OwnGame/Main.swift", bytes: PackageResources.Main_swift_txt),
    File(path: "Sources/OwnGameFunctions/TreasureHunt.swift", bytes: PackageResources.TreasureHunt_swift_txt),
    File(path: "Tests/OwnGameFunctionsTests/TreasureHuntTests.swift", bytes: PackageResources.TreasureHuntTests_swift_txt),
  ]

  let name: GameName
  let source: DoubloonSource

  /// The files of a game's package.
  func rendered() -> [File] {
    Self.files.map { file in
      var text = named(String(decoding: file.bytes, as: UTF8.self)).lines { !$0.hasPrefix("<!-- Examples/") }
      if case .repository(let url, let requirement) = source {
        text = text.replacing(
          #".package(name: "doubloon", path: Context.environment["DOUBLOON_PATH"] ?? "../..")"#,
          by: ".package(url: \"\(url)\", \(requirement))"
        ).replacing("package: \"doubloon\"", by: "package: \"\(source.identity)\"")
      }
      // The build folder first, for its name begins like that of Doubloon's.
      text = text.replacing("\(Self.examplePath)/.build", by: source.buildFolder)
        .replacing(Self.examplePath, by: source.folder)
      return File(path: named(file.path), bytes: Array(text.utf8))
    }
  }

  private func named(_ text: String) -> String {
    text.replacing(Self.example.text, by: name.text).replacing(Self.example.hyphenated, by: name.hyphenated)
  }
}

extension String {
  /// Every occurrence of a text replaced by another, from the left.
  fileprivate func replacing(_ text: String, by other: String) -> String {
    guard text != other else { return self }
    let (bytes, needle) = (Array(utf8), Array(text.utf8))
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == needle[0], bytes[index...].starts(with: needle) {
        result += Array(other.utf8)
        index += needle.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Only the lines that are wanted.
  fileprivate func lines(where isWanted: (Substring) -> Bool) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).filter(isWanted).joined(separator: "\n")
  }
}
