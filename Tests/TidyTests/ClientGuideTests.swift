import Testing

/// What the library's pages show compiles: every block names the file that it is taken from, and a test of the documents compares
/// the two. Those of `Tests/ClientGuide` are run, too, by the stage `example`.
@Suite struct ClientGuideTests {
  static let pages = Repository.texts.filter { file in
    file.path.hasPrefix("Sources/Doubloon/Doubloon.docc/") && file.path.hasSuffix(".md")
  }
  static let guide = Repository.texts.filter { $0.path.hasPrefix("Tests/ClientGuide/") }

  /// Blocks of Swift that name no file.
  static func unnamed(in page: TextFile) -> [Finding] {
    page.lines.indices.compactMap { index in
      guard page.lines[index].trimmed == "```swift" else { return nil }
      let above = index > 0 ? page.lines[index - 1].trimmed : ""
      if above.hasPrefix("<!-- "), above.hasSuffix(".swift -->") { return nil }
      return Finding(path: page.path, line: index + 1, message: "this block names no file that compiles it")
    }
  }

  /// The blocks of Swift in a source's comments, without the slashes.
  static func blocks(inCommentsOf file: TextFile) -> [(line: Int, lines: [Substring])] {
    file.lines.indices.compactMap { index in
      guard file.lines[index].trimmed == "/// ```swift" else { return nil }
      let lines = file.lines[(index + 1)...].prefix { $0.trimmed != "/// ```" }.map { $0.trimmed.dropFirst(3).trimmed }
      return (index + 1, lines)
    }
  }

  @Test("every block of Swift in the library's pages names the file that compiles it")
  func named() {
    let found = Self.pages.flatMap(Self.unnamed(in:))
    #expect(found.isEmpty, "\(found.listing)")
    #expect(Self.pages.count >= 10)
  }

  @Test("every block of Swift in the library's comments is in the guide, line by line")
  func comments() {
    let guide = Self.guide.map { file in file.lines.map(\.trimmed) }
    var found: [Finding] = []
    var count = 0
    for file in Repository.texts where file.path.hasPrefix("Sources/Doubloon/") && file.path.hasSuffix(".swift") {
      for block in Self.blocks(inCommentsOf: file) {
        count += 1
        if !guide.contains(where: { lines in lines.indices.contains { lines[$0...].starts(with: block.lines) } }) {
          found.append(Finding(path: file.path, line: block.line, message: "the example is in no file of Tests/ClientGuide"))
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
    #expect(count > 0)
  }

  @Test("every file of the guide is shown by a page")
  func shown() {
    let marks = Self.pages.flatMap(\.lines).filter { $0.hasPrefix("<!-- Tests/ClientGuide/") }
    let shown = Set(marks.map { $0.dropFirst(5).dropLast(4) })
    for file in Self.guide where file.path != "Tests/ClientGuide/Main.swift" {
      #expect(shown.contains(file.path[...]), "no page shows \(file.path)")
    }
  }

  @Test("a block without a file is found, and one in a comment is read")
  func rule() {
    let page = TextFile(
      path: "a.md", text: "<!-- A.swift -->\n```swift\nlet a = 1\n```\n\n```swift\nlet b = 2\n```\n```sh\nls\n```")
    #expect(Self.unnamed(in: page).map(\.line) == [6])
    let file = TextFile(path: "A.swift", text: "  /// ```swift\n  /// let a = 1\n  ///   .b\n  /// ```\n  var a = 1")
    #expect(Self.blocks(inCommentsOf: file).map(\.lines) == [["let a = 1", ".b"]])
  }
}
