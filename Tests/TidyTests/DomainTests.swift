import Testing

/// The capabilities are values and rules: what they are on the wire is decided by the API targets.
@Suite struct DomainTests {
  /// Targets whose public signatures hold no JSON.
  static let typed: Set<Substring> = ["Accounts", "Links", "Invites", "Ledger", "Triggers", "PlayerLifecycle"]
  /// Modules and names of HTTP.
  static let wire: Set<Substring> = [
    "NIOHTTP1", "NIOHTTP2", "NIOWebSocket", "HTTPTypes", "HTTPServer", "HTTPResponseStatus", "HTTPStatus", "IdentityCall",
    "statusCode",
    "httpStatus",
  ]

  static let files = Repository.sources.filter { file in
    ImportRules.domain.contains(String(file.target))
  }

  @Test("no domain target knows HTTP, or a status code")
  func status() {
    let found = Self.files.flatMap { file in
      file.code.indices.compactMap { line in
        file.code[line].words.first { Self.wire.contains($0) }
          .map { file.finding(line, "\($0): statuses and wire codes are chosen in an API target") }
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
    #expect(Self.files.count > 100, "the rule found almost no files")
  }

  @Test("services take and give values, not JSON")
  func json() {
    let found = Repository.sources.filter { Self.typed.contains($0.target) }.flatMap(Self.documents)
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test("the rule reads whole signatures, and nothing of bodies")
  func rule() {
    let file = SwiftFile(
      path: "Sources/Ledger/A.swift",
      text: """
        public func a(
          _ b: Int
        ) throws -> JSON {
          return b
        }
        package func c() -> Int { JSON.null.count }
        package var d: JSON? { nil }
        public let e = JSON.null
        func f() -> JSON { .null }
        """)
    #expect(Self.documents(in: file).map(\.line) == [1, 7])
  }

  /// The declarations for other targets whose signature names JSON.
  private static func documents(in file: SwiftFile) -> [Finding] {
    file.code.indices.compactMap { line in
      guard let declaration = Declaration(exposedOn: file.code[line]) else { return nil }
      guard signature(in: file.code, from: line).words.contains("JSON") else { return nil }
      return file.finding(line, "\(declaration.keyword) \(declaration.name): give it a type; the API target writes the JSON")
    }
  }

  /// A declaration up to its body or its value.
  private static func signature(in code: [Substring], from start: Int) -> Substring {
    var depth = 0
    var text = ""
    for line in code[start...] {
      let words = line.trimmed
      // Behind the parameters a signature goes on with what it throws and gives.
      if !text.isEmpty, depth == 0, !["->", "throws", "async", "where"].contains(where: { words.hasPrefix($0) }) { break }
      for character in line {
        switch character {
        case "(", "[": depth += 1
        case ")", "]": depth -= 1
        case "{" where depth == 0, "=" where depth == 0: return text[...]
        default: break
        }
        text.append(character)
      }
      text.append("\n")
    }
    return text[...]
  }
}
