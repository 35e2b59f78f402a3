import TreeModel

/// Turns the JSON of a rules file into rules, or says what does not belong there.
struct RuleBuilder {
  private let pattern: RulePattern
  /// The variables on the way from the root.
  private let variables: Set<String>
  private var read: RuleNode.Expression?
  private var write: RuleNode.Expression?
  private var validate: RuleNode.Expression?
  private var indexOn: [NodeOrder] = []
  private var children: [Key: RuleNode] = [:]
  private var wildcard: RuleNode?

  private init(pattern: RulePattern, variables: Set<String>) {
    self.pattern = pattern
    self.variables = variables
  }

  /// The rules of the root, from the whole file.
  static func root(of document: RulesValue) throws(RulesFault) -> RuleNode {
    guard case .object(let members) = document.content else {
      throw RulesFault(at: document.position, "The file must be an object with the one key \"rules\".")
    }
    if let other = members.first(where: { $0.key != "rules" }) {
      throw RulesFault(at: other.keyPosition, "Unknown key \"\(other.key)\"; the only key at the top is \"rules\".")
    }
    guard let rules = members.first else {
      throw RulesFault(at: document.position, "The key \"rules\" is missing.")
    }
    if members.count > 1 { throw RulesFault(at: members[1].keyPosition, "The key \"rules\" is there twice.") }
    return try node(rules.value, RulePattern(), variables: [])
  }

  private static func node(_ value: RulesValue, _ pattern: RulePattern, variables: Set<String>) throws(RulesFault) -> RuleNode {
    guard case .object(let members) = value.content else {
      throw RulesFault(at: value.position, "\(pattern) must be an object with rules and children.")
    }
    guard pattern.segments.count <= Path.depthMax else {
      throw RulesFault(at: value.position, "\(pattern) is too deep: a path has at most \(Path.depthMax) keys.")
    }
    var builder = RuleBuilder(pattern: pattern, variables: variables)
    var names: Set<[UInt8]> = []
    for member in members {
      // By bytes: two spellings of one accent are two keys.
      guard names.insert(Array(member.key.utf8)).inserted else {
        throw RulesFault(at: member.keyPosition, "\"\(member.key)\" is there twice.")
      }
      try builder.add(member)
    }
    return RuleNode(
      pattern: pattern, expressions: (builder.read, builder.write, builder.validate), indexOn: builder.indexOn,
      children: builder.children, wildcard: builder.wildcard)
  }

  private mutating func add(_ member: RulesValue.Member) throws(RulesFault) {
    switch member.key {
    case ".read": read = try Self.expression(member)
    case ".write": write = try Self.expression(member)
    case ".validate": validate = try Self.expression(member)
    case ".indexOn": indexOn = try Self.orders(member.value)
    case let name where name.utf8.first == UInt8(ascii: "$"): try addWildcard(name, member)
    default: try addChild(member)
    }
  }

  private static func expression(_ member: RulesValue.Member) throws(RulesFault) -> RuleNode.Expression {
    let place = member.value.position
    switch member.value.content {
    case .string(let text): return RuleNode.Expression(text: text, line: place.line, column: place.column)
    case .bool(let value): return RuleNode.Expression(text: "\(value)", line: place.line, column: place.column)
    default: throw RulesFault(at: place, "\(member.key) must be an expression as a string, true or false.")
    }
  }

  private static func orders(_ value: RulesValue) throws(RulesFault) -> [NodeOrder] {
    let fault = RulesFault(at: value.position, ".indexOn must be a string, or an array of strings.")
    let elements: [RulesValue]
    switch value.content {
    case .string: elements = [value]
    case .array(let array): elements = array
    default: throw fault
    }
    var orders: [NodeOrder] = []
    for element in elements {
      guard case .string(let name) = element.content else { throw fault }
      guard let order = NodeOrder(indexName: name) else {
        throw RulesFault(at: element.position, "\"\(name)\" cannot be indexed: name the path of a child, or .value.")
      }
      // Keys are always in order.
      if order != .key, !orders.contains(order) { orders.append(order) }
    }
    return orders
  }

  private mutating func addWildcard(_ name: String, _ member: RulesValue.Member) throws(RulesFault) {
    guard Self.isVariable(name) else {
      throw RulesFault(at: member.keyPosition, "\"\(name)\" is no variable: use $ and letters, digits and underscores.")
    }
    if let wildcard {
      throw RulesFault(
        at: member.keyPosition,
        "\(pattern) has the variable \(wildcard.pattern.segments.last?.name ?? "") already; one is enough.")
    }
    guard !variables.contains(name) else {
      throw RulesFault(
        at: member.keyPosition, "The variable \(name) stands further up on this path; give this one another name.")
    }
    wildcard = try Self.node(member.value, pattern.appending(.variable(name)), variables: variables.union([name]))
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

  private mutating func addChild(_ member: RulesValue.Member) throws(RulesFault) {
    let key: Key
    do {
      key = try Key(member.key)
    } catch {
      let known = ".read, .write, .validate and .indexOn"
      throw RulesFault(
        at: member.keyPosition,
        member.key.utf8.first == UInt8(ascii: ".")
          ? "Unknown rule \"\(member.key)\"; there are \(known)." : "\(error.description)")
    }
    children[key] = try Self.node(member.value, pattern.appending(.literal(key)), variables: variables)
  }
}
