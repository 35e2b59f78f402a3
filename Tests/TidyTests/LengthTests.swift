import Testing

/// A file fits a sitting, a function fits a screen.
@Suite struct LengthTests {
  static let fileMax = 400
  static let functionMax = 70

  /// Files that were longer when the rule came. The number may shrink, never grow.
  static let filesAllowed: [String: Int] = [:]

  @Test("no file is longer than 400 lines")
  func files() {
    let written = Repository.texts.filter { file in
      [".swift", ".py", ".sh", ".c"].contains { file.path.hasSuffix($0) } || file.path.hasPrefix("Scripts/")
    }
    let found = written.compactMap { file in
      let limit = Self.filesAllowed[file.path] ?? Self.fileMax
      return file.lines.count > limit
        ? Finding(path: file.path, line: limit + 1, message: "\(file.lines.count) lines; the limit is \(limit)") : nil
    }
    #expect(found.isEmpty, "\(found.listing)")
    #expect(written.count > 10, "the walk found almost no files below \(Repository.root)")
  }

  @Test("no function is longer than 70 lines")
  func functions() {
    let found = Repository.swiftFiles.flatMap { file in
      FunctionExtent.all(in: file.codeBytes).filter { $0.lineCount > Self.functionMax }
        .map { file.finding($0.line, "\($0.name) is \($0.lineCount) lines long; the limit is \(Self.functionMax)") }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the measure knows bodies from requirements, and counts what is nested")
  func measure() {
    let text = """
      protocol P {
        func required(a: Int) -> Int
        var stored: Int { get }
      }
      struct A {
        var plain = 0
        func long(
          a: Int,
          b: Int
        ) async throws
          -> Int
        {
          func inner() { print("{ \\(1) {") }
          return a  // {
        }
        init() {}
      }
      """
    let found = FunctionExtent.all(in: CodeMask.masked(Array(text.utf8)))
    #expect(found.map { "\($0.name) \($0.line) \($0.lineCount)" } == ["stored 2 1", "long 6 9", "inner 12 1", "init 15 1"])
  }
}
