import Testing

/// The repository as a newcomer finds it after cloning.
@Suite struct RepositoryTests {
  /// Words that are taken apart here, so that this file does not hold what it looks for.
  static let unfinished: Set<String> = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
  /// Folders that exist on one machine only.
  static let machinePaths = ["/wo" + "rk/", "/ho" + "me/", "/ro" + "ot/", "/opt/" + "swift", "/Us" + "ers/"]
  /// Traits and calls that let a test pass without running.
  static let skips = [".disab" + "led(", ".enabled(" + "if", "withKnown" + "Issue", "XCT" + "Skip"]
  static let sleeps = ["Task.sl" + "eep", "usl" + "eep(", "Thread.sl" + "eep"]

  @Test("no line says that its work is unfinished")
  func marks() {
    let found = Self.lines(with: Array(Self.unfinished)) { line in
      line.words.contains { Self.unfinished.contains(String($0)) } ? "do it now, or open an issue" : nil
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the top level holds what a stranger expects, and nothing that a tool has left there")
  func topLevel() {
    // What SwiftPM writes is never committed.
    let expected: Set<String> = [
      "Benchmarks", "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "Documentation", "Examples", "Functions", "LICENSE",
      "Package.resolved", "Package.swift", "README.md", "SECURITY.md", "Scripts", "Sources", "Tests", "schema.sql",
    ]
    let found = Set(Repository.files.compactMap { $0.split(separator: "/").first.map(String.init) })
    let surplus = found.filter { !$0.hasPrefix(".") }.subtracting(expected).sorted()
    #expect(surplus.isEmpty, "move or remove \(surplus.joined(separator: ", "))")
  }

  @Test("a citation names a source that everybody can read")
  func citations() {
    let publicSources = ["RFC", "OpenID", "OWASP", "ISO", "W3C", "WHATWG", "https://"]
    let (section, document) = ("\u{A7}", "sp" + "ec")
    let found = Self.lines(with: [section, document]) { line in
      if line.holds(section), !publicSources.contains(where: { line.holds($0) }) {
        return "cite a public source by its name, or say it here"
      }
      // As a folder's name in somebody else's repository it is a place.
      return line.words.contains { $0 == document } && !line.holds("/" + document + "/")
        ? "the repository holds no such document; cite a public source" : nil
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("words are those of today's plain English")
  func plainWords() {
    let old = ["who" + "ever", "Who" + "ever", "an" + "ew", "An" + "ew"]
    let found = Self.lines(with: old) { line in
      line.words.first { old.contains(String($0)) }.map { "say \"\($0)\" in plain English" }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("no line names a folder of one machine")
  func paths() {
    let found = Self.lines(with: Self.machinePaths) { line in
      Self.machinePaths.first { line.holds($0) }.map { "\($0) exists on one machine only" }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("no test can be skipped, and none sleeps")
  func skipping() {
    let found = Self.lines(in: "Tests/", with: Self.skips + Self.sleeps) { line in
      if let skip = Self.skips.first(where: { line.holds($0) }) { return "\(skip): a test that was skipped is no test" }
      if let sleep = Self.sleeps.first(where: { line.holds($0) }) { return "\(sleep): wait for the thing itself, with a bound" }
      return nil
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the program is built for use with the flags of one file, whatever builds it")
  func releaseFlags() {
    let known = ["--toolset Scripts/release.json", "\"${release_build[@]}\"", "\"${building[@]}\""]
    let builds = ["swift bu" + "ild"]
    let found = Self.lines(with: builds) { line in
      guard line.holds(builds[0]), line.holds("-c rel" + "ease") || line.holds("--product doub" + "loon") else { return nil }
      return known.contains { line.holds($0) } ? nil : "say --toolset Scripts/release.json"
    }
    #expect(found.isEmpty, "\(found.listing)")
    #expect(Repository.texts.contains { $0.path == "Dockerfile" })
  }

  @Test(
    "the files that a newcomer expects are there",
    arguments: ["README.md", "CONTRIBUTING.md", "LICENSE", "schema.sql", ".swift-format", ".gitignore"])
  func present(_ file: String) {
    #expect(Repository.exists(file))
  }

  @Test("the commands can be started", arguments: ["Scripts/run", "Scripts/test", ".ci/run"])
  func executable(_ file: String) {
    #expect(Repository.isExecutable(file))
  }

  /// The complaints about lines of files that hold one of the texts.
  private static func lines(in folder: String = "", with texts: [String], _ complaint: (Substring) -> String?) -> [Finding] {
    let needles = texts.map { Array($0.utf8) }
    return Repository.texts.filter { file in file.path.hasPrefix(folder) && needles.contains { file.bytes.holds($0) } }
      .flatMap { file in
        file.lines.enumerated().compactMap { number, line in
          complaint(line).map { Finding(path: file.path, line: number + 1, message: $0) }
        }
      }
  }
}
