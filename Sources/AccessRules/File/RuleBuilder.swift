import TextFormats
import TreeModel

/// Turns the JSON of a rules file into rules, or says what does not belong there.
struct RuleBuilder {
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
  /// - `faults`: gets what is wrong below the root. What it is about has no rule, and a faulty expression is never true.
  static func root(of document: CommentedJSON, in source: RulesSource, faults: inout RuleFaults) throws(RulesError)
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
    return try node(rules.value, pattern: RulePattern(), source: source, faults: &faults)
  }

  private static func node(_ value: CommentedJSON, pattern: RulePattern, source: RulesSource, faults: inout RuleFaults)
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
      do throws(RulesError) {
        // By bytes: two spellings of one accent are two keys.
        guard names.insert(Array(member.key.utf8)).inserted else {
          throw RulesError(at: member.keyPosition, "\"\(member.key)\" is there twice.")
        }
        try builder.add(member, &faults)
      } catch {
        // The rest is read on, so that all faults are told at once.
        faults.structure.add(error)
      }
    }
    return RuleNode(
      pattern: pattern, expressions: (builder.read, builder.write, builder.validate), indexOn: builder.indexOn,
      children: builder.children, wildcard: builder.wildcard)
  }

  private mutating func add(_ member: CommentedJSON.Member, _ faults: inout RuleFaults) throws(RulesError) {
    switch member.key {
    case ".read": read = try expression(.read, member: member, faults: &faults)
    case ".write": write = try expression(.write, member: member, faults: &faults)
    case ".validate": validate = try expression(.validate, member: member, faults: &faults)
    case ".indexOn": indexOn = try Self.orders(member.value)
    case let name where name.utf8.first == UInt8(ascii: "$"): try addWildcard(name, member: member, faults: &faults)
    default: try addChild(member, faults: &faults)
    }
  }

  private func expression(_ kind: RuleKind, member: CommentedJSON.Member, faults: inout RuleFaults) throws(RulesError)
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
      if !faults.expressions.isFull {
        faults.expressions.add(RulesError(at: source.position(of: text.source(of: error.offset)), error.message))
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

  private mutating func addWildcard(_ name: String, member: CommentedJSON.Member, faults: inout RuleFaults)
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
    wildcard = try Self.node(member.value, pattern: pattern.appending(.variable(name)), source: source, faults: &faults)
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

  private mutating func addChild(_ member: CommentedJSON.Member, faults: inout RuleFaults) throws(RulesError) {
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
    children[key] = try Self.node(member.value, pattern: pattern.appending(.literal(key)), source: source, faults: &faults)
  }
}

/// What is wrong with a rules file, as far as it is told.
struct RuleFaults {
  /// Faults of one kind.
  struct List {
    /// As many are told at once: each costs a walk along its line.
    static let countMax = 100

    private(set) var errors: [RulesError] = []
    var isFull: Bool { errors.count >= Self.countMax }

    mutating func add(_ error: RulesError) {
      if !isFull { errors.append(error) }
    }
  }

  /// Of what rules cannot have.
  var structure = List()
  /// Of expressions that can never be evaluated.
  var expressions = List()

  /// All of them, in the order of the file.
  var all: [RulesError] {
    let sorted = (structure.errors + expressions.errors).sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    return Array(sorted.prefix(List.countMax))
  }
}
