import Testing

/// Nothing public ships undocumented.
@Suite struct DocumentationTests {
  /// Members of the standard library's protocols: their meaning is that protocol's.
  static let conformances: Set<String> = [
    "description", "debugDescription", "errorDescription", "==", "<", "hash", "encode", "startIndex", "endIndex",
    "makeIterator",
    "next", "index", "makeAsyncIterator", "rawValue", "allCases", "id", "codingPath", "userInfo", "count",
    "underestimatedCount",
  ]

  /// Initialisers of the standard library's protocols, by their first label.
  static let initialisers = [
    "init(from", "init(stringLiteral", "init(integerLiteral", "init(floatLiteral", "init(booleanLiteral",
    "init(dictionaryLiteral",
    "init(arrayLiteral", "init(nilLiteral", "init(rawValue", "init(stringInterpolation", "init(unicodeScalarLiteral",
  ]

  /// How many undocumented declarations a target may still have. The number may shrink, never grow.
  static let allowed: [String: Int] = [:]

  /// The requirements of our own protocols: documented there, once.
  static let requirements: Set<String> = {
    var names: Set<String> = []
    for file in Repository.sources {
      var depth = 0
      var protocolDepth: Int?
      for line in file.code {
        let words = line.words
        if protocolDepth == nil, words.prefix(4).contains("protocol") { protocolDepth = depth }
        if let start = protocolDepth, depth == start + 1,
          let keyword = words.firstIndex(where: { $0 == "func" || $0 == "var" }),
          keyword + 1 < words.count
        {
          names.insert(String(words[keyword + 1]))
        }
        depth += line.utf8.count { $0 == UInt8(ascii: "{") } - line.utf8.count { $0 == UInt8(ascii: "}") }
        if let start = protocolDepth, depth <= start, line.holds("}") { protocolDepth = nil }
      }
    }
    return names
  }()

  static func undocumented(in file: SwiftFile) -> [Finding] {
    file.code.indices.compactMap { line in
      guard let declaration = Declaration(publicOn: file.code[line]) else { return nil }
      if file.comment(above: line).isEmpty == false { return nil }
      if conformances.contains(declaration.name) || requirements.contains(declaration.name) { return nil }
      let text = file.code[line].trimmed
      if initialisers.contains(where: { text.holds($0) }) { return nil }
      if declaration.keyword == "init" && isMemberwise(file, line) { return nil }
      return file.finding(line, "public \(declaration.keyword) \(declaration.name) has no ///")
    }
  }

  /// Whether an initialiser only fills properties: those are documented where they are declared.
  private static func isMemberwise(_ file: SwiftFile, _ start: Int) -> Bool {
    var line = start
    while line < file.code.count, !file.code[line].trimmed.hasSuffix("{") {
      if file.code[line].trimmed.hasSuffix("}") { return true }
      line += 1
    }
    let control: Set<Substring> = ["if", "guard", "for", "while", "switch", "try", "throw", "precondition", "super"]
    for body in file.code.dropFirst(line + 1) {
      let text = body.trimmed
      if text == "}" { return true }
      if !text.holds(" = ") || text.words.contains(where: { control.contains($0) }) { return false }
    }
    return false
  }

  @Test("every public declaration has a /// above it")
  func declarations() {
    let found = Dictionary(
      grouping: Repository.sources.flatMap { file in Self.undocumented(in: file).map { (String(file.target), $0) } }, by: \.0)
    for (target, findings) in found.sorted(by: { $0.key < $1.key }) {
      let limit = Self.allowed[target] ?? 0
      #expect(
        findings.count <= limit, "\(target): \(findings.count) without words; the limit is \(limit)\(findings.map(\.1).listing)"
      )
    }
    for (target, limit) in Self.allowed {
      #expect(found[target]?.count ?? 0 >= limit, "\(target) has fewer than \(limit) by now: lower the number")
    }
  }

  @Test("the rule sees declarations as they are written")
  func rule() {
    let file = SwiftFile(
      path: "Sources/TreeModel/A.swift",
      text: """
        /// Said.
        @frozen
        public struct A: Sendable {
          public let spoken: Int
          public init(spoken: Int) {
            self.spoken = spoken
          }
          public private(set) var quiet = 0
          public static func silent() -> Int { 0 }
          public var description: String { "" }
          public static func == (a: A, b: A) -> Bool { true }
          var own = 0
        }
        public import TreeModel
        """)
    #expect(Self.undocumented(in: file).map(\.line) == [4, 8, 9])
  }
}
