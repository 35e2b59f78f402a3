import Testing

/// The documents name only what is there.
@Suite struct ReadmeTests {
  static let documents = Repository.texts.filter { $0.path.hasSuffix(".md") && !$0.path.contains(".docc/") }

  @Test("every relative link leads somewhere")
  func links() {
    var found: [Finding] = []
    for document in Self.documents {
      let folder = document.path.split(separator: "/").dropLast().map(String.init)
      for (number, line) in document.lines.enumerated() {
        for target in Self.links(in: line)
        where !target.hasPrefix("#") && !target.hasPrefix("mailto:") && !target[...].holds("://") {
          let path = Self.resolved(target.split(separator: "#").first ?? "", in: folder)
          if !Repository.exists(path) {
            found.append(Finding(path: document.path, line: number + 1, message: "\(target) leads nowhere"))
          }
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the README takes five minutes, and leads to every page for users")
  func entrance() {
    let readme = TextFile(path: "README.md")
    #expect(readme.lines.count <= 150, "README.md has \(readme.lines.count) lines; move what is for later to Documentation/")
    let targets = Set(readme.lines.flatMap(Self.links(in:)))
    let pages = Self.documents.map(\.path).filter { $0.hasPrefix("Documentation/") }
    #expect(pages.count >= 5)
    for page in pages { #expect(targets.contains(page), "README.md does not link \(page)") }
  }

  @Test("every file that is named is there")
  func paths() {
    var found: [Finding] = []
    for document in Repository.texts where document.path.hasSuffix(".md") {
      for (number, line) in document.lines.enumerated() {
        let spans = line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        for path in spans.map(\.element) where ["Sources/", "Tests/"].contains(where: { path.hasPrefix($0) }) {
          if !path.contains(" "), !path.contains("<"), !Repository.exists(String(path)) {
            found.append(Finding(path: document.path, line: number + 1, message: "there is no \(path)"))
          }
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("every script that is shown can be started, and every command exists")
  func commands() {
    let known = Self.commandNames
    var found: [Finding] = []
    for document in Self.documents {
      for (number, line) in Self.shellLines(of: document) {
        let words = line.split { $0 == " " || $0 == "`" }.map(String.init)
        for script in words where script.hasPrefix("Scripts/") || script.hasPrefix(".ci/") {
          // What is no script is only read.
          if script.hasSuffix(".json") ? !Repository.exists(script) : !Repository.isExecutable(script) {
            found.append(Finding(path: document.path, line: number, message: "\(script) cannot be started"))
          }
        }
        for (program, command) in zip(words, words.dropFirst()) where program == "doubloon" || program.hasSuffix("/doubloon") {
          if command.allSatisfy({ $0.isLowercase || $0 == "-" }), !command.hasPrefix("-"), !known.contains(command) {
            found.append(Finding(path: document.path, line: number, message: "there is no command \"doubloon \(command)\""))
          }
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("an example that names its file is in that file, line by line")
  func examples() {
    var found: [Finding] = []
    var count = 0
    for document in Repository.texts where document.path.hasSuffix(".md") {
      for (number, path, lines) in Self.examples(in: document) {
        count += 1
        let file = TextFile(path: path).lines.map(\.trimmed)
        if !file.indices.contains(where: { file[$0...].starts(with: lines) }) {
          found.append(Finding(path: document.path, line: number, message: "the example is not in \(path)"))
        }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
    #expect(count >= 4, "the rule found almost no examples")
  }

  /// The fenced lines below a comment that names a file: `<!-- Tests/TreeModelTests/GuideTests.swift -->`.
  private static func examples(in document: TextFile) -> [(line: Int, path: String, lines: [Substring])] {
    document.lines.indices.compactMap { index in
      let comment = document.lines[index].trimmed
      guard comment.hasPrefix("<!-- "), comment.hasSuffix(".swift -->"), index + 1 < document.lines.count,
        document.lines[index + 1].trimmed.hasPrefix("```")
      else { return nil }
      let lines = document.lines[(index + 2)...].prefix { !$0.trimmed.hasPrefix("```") }.map(\.trimmed)
      return (index + 1, String(comment.dropFirst(5).dropLast(4)), lines)
    }
  }

  /// The names that the sources give to commands: said outright, or derived from the type's name.
  private static let commandNames: Set<String> = {
    var names: Set<String> = []
    for file in Repository.sources {
      for (raw, code) in zip(file.lines, file.code) {
        if code.holds("commandName:"), let name = raw.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
        {
          names.insert(String(name))
        }
        if code.holds("ParsableCommand"), let keyword = code.words.firstIndex(of: "struct"), keyword + 1 < code.words.count {
          names.insert(code.words[keyword + 1].lowercased())
        }
      }
    }
    return names
  }()

  /// The lines between fences that hold shell, with their numbers.
  private static func shellLines(of document: TextFile) -> [(Int, Substring)] {
    var language: Substring?
    var lines: [(Int, Substring)] = []
    for (number, line) in document.lines.enumerated() {
      if line.trimmed.hasPrefix("```") {
        language = language == nil ? line.trimmed.dropFirst(3) : nil
      } else if language == "sh" || language == "bash" || language == "console" {
        lines.append((number + 1, line))
      }
    }
    return lines
  }

  /// The targets of links like `[text](target)`.
  private static func links(in line: Substring) -> [String] {
    var targets: [String] = []
    var rest = line
    while let start = rest.utf8Range(of: "](") {
      let after = rest[start...].dropFirst(2)
      targets.append(String(after.prefix { $0 != ")" && $0 != " " }))
      rest = after
    }
    return targets
  }

  private static func resolved(_ target: Substring, in folder: [String]) -> String {
    var parts = folder
    for part in target.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
    }
    return parts.joined(separator: "/")
  }
}
