import TextFormats
public import TreeModel

/// A rules file, read, checked and ready to be evaluated.
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
  /// - Throws: ``RulesError`` for what is no JSON, for a structure that rules do not have, and for expressions that can never
  ///   be evaluated: of the last two, all that there are, up to 100.
  public init(parsing source: String) throws(RulesError) {
    var faults = RuleFaults()
    try self.init(source, &faults)
    if let error = RulesError(joining: faults.all) { throw error }
  }

  /// Reads a file that was accepted once, perhaps by another version: an expression that is not understood is never true.
  ///
  /// - Throws: as ``init(parsing:)``, but not for expressions.
  public init(stored source: String) throws(RulesError) {
    var faults = RuleFaults()
    try self.init(source, &faults)
    if let error = RulesError(joining: faults.structure.errors) { throw error }
  }

  private init(_ text: String, _ faults: inout RuleFaults) throws(RulesError) {
    guard text.utf8.count <= Self.bytesMax else {
      throw RulesError(at: CommentedJSON.Position(line: 1, column: 1), "The rules are larger than 1 MB.")
    }
    let source = RulesSource(text)
    let document = try source.document()
    root = try RuleBuilder.root(of: document, in: source, faults: &faults)
    strict = document.json
    readsDependOnData = root.contains { $0.read?.looksAtTree == true }
  }

  /// A file that lets everybody do everything, or nobody anything: what holds where nobody has put rules.
  public static func source(allowingAll isAllowed: Bool) -> String {
    "{\n  \"rules\": {\n    \".read\": \(isAllowed),\n    \".write\": \(isAllowed)\n  }\n}\n"
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

  /// How many places have rules or children with rules, how many rules and how many indexes there are.
  public var counts: (places: Int, rules: Int, indexes: Int) {
    var waiting = [root]
    var (places, rules) = (0, 0)
    while let node = waiting.popLast() {
      places += 1
      rules += [node.read, node.write, node.validate].count { $0 != nil }
      waiting += Array(node.children.values) + [node.wildcard].compactMap(\.self)
    }
    return (places, rules, indexes.count)
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

extension CommentedJSON {
  /// The value without its places.
  fileprivate var json: JSON {
    switch content {
    case .string(let text): .string(text.text)
    case .bool(let value): .bool(value)
    // Rules have neither; they were refused.
    case .number, .null: .null
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.value.json) })
    }
  }
}

/// What is wrong with a rules file, and where.
public struct RulesError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int
  /// What is wrong and what to do.
  public let message: String
  /// What else is wrong, in the order of the file.
  public let others: [RulesError]

  init(at position: CommentedJSON.Position, _ message: String, others: [RulesError] = []) {
    line = position.line
    column = position.column
    self.message = message
    self.others = others
  }

  /// One fault of several; nil of none.
  init?(joining errors: [RulesError]) {
    guard let first = errors.first else { return nil }
    self.init(
      at: CommentedJSON.Position(line: first.line, column: first.column), first.message, others: Array(errors.dropFirst()))
  }

  /// As the tools show it, behind the file's name: `3:14: text`; a line for each fault.
  public var description: String {
    ([self] + others).map { "\($0.line):\($0.column): \($0.message)" }.joined(separator: "\n")
  }
}

/// The rules of one place in the tree, and of the places below it.
public final class RuleNode: Sendable {
  /// Where the node is.
  public let pattern: RulePattern
  /// Who may read; nil if the node says nothing.
  public let read: RuleExpression?
  /// Who may write; nil if the node says nothing.
  public let write: RuleExpression?
  /// What may be written; nil if the node says nothing.
  public let validate: RuleExpression?
  /// The orders that the node's children are indexed by.
  public let indexOn: [NodeOrder]
  /// The rules of children that are named.
  public let children: [Key: RuleNode]
  /// The rules of every other child; the name of the variable is the last one of its pattern.
  public let wildcard: RuleNode?
  /// Whether a node below says what may be written there.
  let validatesBelow: Bool

  init(
    pattern: RulePattern, expressions: (read: RuleExpression?, write: RuleExpression?, validate: RuleExpression?),
    indexOn: [NodeOrder], children: [Key: RuleNode], wildcard: RuleNode?
  ) {
    self.pattern = pattern
    read = expressions.read
    write = expressions.write
    validate = expressions.validate
    self.indexOn = indexOn
    self.children = children
    self.wildcard = wildcard
    let below = Array(children.values) + [wildcard].compactMap(\.self)
    validatesBelow = below.contains { $0.validate != nil || $0.validatesBelow }
  }

  /// The rules of a child: a named one wins over the variable.
  public func child(_ key: Key) -> RuleNode? {
    children[key] ?? wildcard
  }

  /// Whether the condition holds here or somewhere below.
  func contains(where condition: (RuleNode) -> Bool) -> Bool {
    condition(self) || children.values.contains { $0.contains(where: condition) }
      || wildcard?.contains(where: condition) == true
  }
}

/// A `.read`, `.write` or `.validate` rule: its text, checked and ready to be evaluated.
public final class RuleExpression: Sendable {
  /// What it decides.
  public let kind: RuleKind
  /// The expression, as it was written; a boolean is the text `true` or `false`.
  public let text: String
  /// The place in the file where its value begins, from 1.
  public let line: Int
  /// See ``line``.
  public let column: Int
  /// Whether evaluating it looks at the tree; if not, the caller and what is asked decide alone.
  public let looksAtTree: Bool

  let term: RuleTerm
  private let located: CommentedJSON.Text
  private let source: RulesSource

  init(
    _ kind: RuleKind, _ located: CommentedJSON.Text, at position: CommentedJSON.Position, in source: RulesSource, term: RuleTerm
  ) {
    self.kind = kind
    text = located.text
    line = position.line
    column = position.column
    looksAtTree = term.looksAtTree
    self.term = term
    self.located = located
    self.source = source
  }

  /// Where a part is in the file.
  func position(of offset: Int) -> CommentedJSON.Position { source.position(of: located.source(of: offset)) }

  /// The text of a part.
  func text(of term: RuleTerm) -> String {
    String(decoding: Array(text.utf8)[term.range], as: UTF8.self)
  }
}

/// Where a rule node is: keys, and variables that take any key.
public struct RulePattern: Sendable, Hashable, CustomStringConvertible {
  /// One level.
  public enum Segment: Sendable, Hashable {
    /// This key.
    case literal(Key)
    /// Any key; the name has its `$`.
    case variable(String)
  }

  /// Outermost first; none for the root.
  public let segments: [Segment]

  public init(segments: [Segment] = []) {
    self.segments = segments
  }

  func appending(_ segment: Segment) -> RulePattern {
    RulePattern(segments: segments + [segment])
  }

  /// On which level each variable stands.
  var levels: [String: Int] {
    var levels: [String: Int] = [:]
    for (level, segment) in segments.enumerated() {
      if case .variable(let name) = segment { levels[name] = level }
    }
    return levels
  }

  /// As the rules have it: `/users/$uid/items`; the root is `/`.
  public var description: String {
    "/" + segments.map(\.name).joined(separator: "/")
  }

  /// The same for every name that a variable may have: `/users/$/items`.
  public var shape: String {
    "/"
      + segments.map { segment in
        switch segment {
        case .literal(let key): key.text
        case .variable: "$"
        }
      }.joined(separator: "/")
  }
}

extension RulePattern.Segment {
  /// The key, or the variable with its `$`.
  var name: String {
    switch self {
    case .literal(let key): key.text
    case .variable(let name): name
    }
  }
}
