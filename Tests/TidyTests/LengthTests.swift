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
}
