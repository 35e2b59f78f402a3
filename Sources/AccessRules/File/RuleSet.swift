public import TreeModel

/// A rules file, read, checked and ready to be judged with (spec: rtdb-protocol §4.1).
public struct RuleSet: Sendable {
  /// An order that some node's children are indexed by.
  public struct Index: Sendable {
    /// Where the parents of the indexed children stand.
    public let pattern: RulePattern
    /// By what they are indexed.
    public let order: NodeOrder
  }

  /// The largest file, in bytes of UTF-8.
  public static let bytesMax = 1 << 20

  /// The rules of the root.
  public let root: RuleNode
  /// The file as JSON: without comments, the strings with escapes. What `?format=strict` shows.
  public let strict: JSON

  /// Whether a `.read` rule looks at the tree, so that a commit may take away what was allowed.
  public let readsDependOnData: Bool

  /// Reads a file.
  ///
  /// - Throws: ``RulesFault`` for what is no JSON, for a structure that rules do not have, and for expressions that can never
  ///   be judged: of these, all that there are.
  public init(parsing source: String) throws(RulesFault) {
    var faults: [RulesFault] = []
    try self.init(source, &faults)
    if let fault = RulesFault(joining: faults) { throw fault }
  }

  /// Reads a file that was accepted once, perhaps by another version: an expression that is not understood is never true.
  ///
  /// - Throws: as ``init(parsing:)``, but not for expressions.
  public init(stored source: String) throws(RulesFault) {
    var faults: [RulesFault] = []
    try self.init(source, &faults)
  }

  private init(_ text: String, _ faults: inout [RulesFault]) throws(RulesFault) {
    guard text.utf8.count <= Self.bytesMax else {
      throw RulesFault(at: RulesPosition(line: 1, column: 1), "The rules are larger than 1 MB.")
    }
    let source = RulesSource(text)
    var scanner = RulesScanner(source)
    let document = try scanner.document()
    root = try RuleBuilder.root(of: document, in: source, &faults)
    strict = document.json
    readsDependOnData = root.contains { $0.read?.looksAtTree == true }
  }

  /// The rules of exactly one place; nil if there are none.
  public func node(at path: Path) -> RuleNode? {
    var node = root
    for key in path.keys {
      guard let child = node.child(key) else { return nil }
      node = child
    }
    return node
  }

  /// Every index that the rules declare, outermost first.
  public var indexes: [Index] {
    var found: [Index] = []
    var waiting = [root]
    while let node = waiting.popLast() {
      found += node.indexOn.map { Index(pattern: node.pattern, order: $0) }
      waiting += node.children.sorted { $1.key < $0.key }.map(\.value)
      if let wildcard = node.wildcard { waiting.append(wildcard) }
    }
    return found
  }
}

extension RulesValue {
  /// The value without its places.
  var json: JSON {
    switch content {
    case .string(let text): .string(text.text)
    case .bool(let value, _): .bool(value)
    // Rules have neither; they were refused.
    case .number, .null: .null
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.value.json) })
    }
  }
}
