import TextFormats
import TreeModel

/// Turns the JSON of a rules file into rules, or says what does not belong there.
struct RuleBuilder {
  /// As many faults of expressions are told at once.
  private static let errorsMax = 20

  private let pattern: RulePattern
  private let source: RulesSource
  private var read: RuleExpression?
  private var write: RuleExpression?
  private var validate: RuleExpression?
  private var indexOn: [NodeOrder] = []
  private var children: [Key: RuleNode] = [:]
  private var wildcard: RuleNode?

  private init(pattern: RulePattern, source: RulesSource) {
    self.pattern = pattern
    self.source = source
  }

  /// The rules of the root, from the whole file.
  ///
  /// - `errors`: gets those of expressions; such an expression is never true.
  static func root(of document: CommentedJSON, in source: RulesSource, errors: inout [RulesError]) throws(RulesError)
    -> RuleNode
  {
    guard case .object(let members) = document.content else {
      throw RulesError(at: document.position, "The file must be an object with the one key \"rules\".")
    }
    if let other = members.first(where: { $0.key != "rules" }) {
      throw RulesError(at: other.keyPosition, "Unknown key \"\(other.key)\"; the only key at the top is \"rules\".")
    }
    guard let rules = members.first else {
      throw RulesError(at: document.position, "The key \"rules\" is missing.")
    }
    if members.count > 1 { throw RulesError(at: members[1].keyPosition, "The key \"rules\" is there twice.") }
    return try node(rules.value, pattern: RulePattern(), source: source, errors: &errors)
  }

  private static func node(_ value: CommentedJSON, pattern: RulePattern, source: RulesSource, errors: inout [RulesError])
    throws(RulesError) -> RuleNode
  {
    guard case .object(let members) = value.content else {
      throw RulesError(at: value.position, "\(pattern) must be an object with rules and children.")
    }
    guard pattern.segments.count <= Path.depthMax else {
      throw RulesError(at: value.position, "\(pattern) is too deep: a path has at most \(Path.depthMax) keys.")
    }
    var builder = RuleBuilder(pattern: pattern, source: source)
    var names: Set<[UInt8]> = []
    for member in members {
      // By bytes: two spellings of one accent are two keys.
      guard names.insert(Array(member.key.utf8)).inserted else {
        throw RulesError(at: member.keyPosition, "\"\(member.key)\" is there twice.")
      }
      try builder.add(member, &errors)
    }
    return RuleNode(
      pattern: pattern, expressions: (builder.read, builder.write, builder.validate), indexOn: builder.indexOn,
      children: builder.children, wildcard: builder.wildcard)
  }

  private mutating func add(_ member: CommentedJSON.Member, _ errors: inout [RulesError]) throws(RulesError) {
    switch member.key {
    case ".read": read = try expression(.read, member: member, errors: &errors)
    case ".write": write = try expression(.write, member: member, errors: &errors)
    case ".validate": validate = try expression(.validate, member: member, errors: &errors)
    case ".indexOn": indexOn = try Self.orders(member.value)
    case let name where name.utf8.first == UInt8(ascii: "$"): try addWildcard(name, member: member, errors: &errors)
    default: try addChild(member, errors: &errors)
    }
  }

  private func expression(_ kind: RuleKind, member: CommentedJSON.Member, errors: inout [RulesError]) throws(RulesError)
    -> RuleExpression
  {
    let text: CommentedJSON.Text
    switch member.value.content {
    case .string(let string): text = string
    case .bool(let value):
      text = CommentedJSON.Text(text: "\(value)", marks: [CommentedJSON.Text.Mark(offset: 0, source: member.value.offset)])
    default:
      throw RulesError(at: member.value.position, "\(member.key) must be an expression as a string, true or false.")
    }
    var term = RuleTerm(.constant(RuleValue(false)), type: .bool, range: 0..<text.text.utf8.count)
    do throws(ExpressionError) {
      term = try ExpressionCompiler.compile(text.text, kind: kind, variables: pattern.levels)
    } catch {
      // Each costs a walk along its line.
      if errors.count < Self.errorsMax {
        errors.append(RulesError(at: source.position(of: text.source(of: error.offset)), error.message))
      }
    }
    return RuleExpression(kind, text, at: member.value.position, in: source, term: term)
  }

  private static func orders(_ value: CommentedJSON) throws(RulesError) -> [NodeOrder] {
    let error = RulesError(at: value.position, ".indexOn must be a string, or an array of strings.")
    let elements: [CommentedJSON]
    switch value.content {
    case .string: elements = [value]
    case .array(let array): elements = array
    default: throw error
    }
    var orders: [NodeOrder] = []
    for element in elements {
      guard case .string(let string) = element.content else { throw error }
      let name = string.text
      guard let order = NodeOrder(indexName: name) else {
        throw RulesError(at: element.position, "\"\(name)\" cannot be indexed: name the path of a child, or .value.")
      }
      // Keys are always in order.
      if order != .key, !orders.contains(order) { orders.append(order) }
    }
    return orders
  }

  private mutating func addWildcard(_ name: String, member: CommentedJSON.Member, errors: inout [RulesError])
    throws(RulesError)
  {
    guard Self.isVariable(name) else {
      throw RulesError(at: member.keyPosition, "\"\(name)\" is no variable: use $ and letters, digits and underscores.")
    }
    if let wildcard {
      throw RulesError(
        at: member.keyPosition,
        "\(pattern) has the variable \(wildcard.pattern.segments.last?.name ?? "") already; one is enough.")
    }
    guard pattern.levels[name] == nil else {
      throw RulesError(
        at: member.keyPosition, "The variable \(name) stands further up on this path; give this one another name.")
    }
    wildcard = try Self.node(member.value, pattern: pattern.appending(.variable(name)), source: source, errors: &errors)
  }

  private static func isVariable(_ name: String) -> Bool {
    let letters = name.utf8.dropFirst()
    guard let first = letters.first, !(48...57).contains(first) else { return false }
    return letters.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  private mutating func addChild(_ member: CommentedJSON.Member, errors: inout [RulesError]) throws(RulesError) {
    let key: Key
    do {
      key = try Key(member.key)
    } catch {
      let known = ".read, .write, .validate and .indexOn"
      throw RulesError(
        at: member.keyPosition,
        member.key.utf8.first == UInt8(ascii: ".")
          ? "Unknown rule \"\(member.key)\"; there are \(known)." : "\(error.description)")
    }
    children[key] = try Self.node(member.value, pattern: pattern.appending(.literal(key)), source: source, errors: &errors)
  }
}
