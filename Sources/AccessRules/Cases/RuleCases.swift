public import TreeModel

/// A file of cases: the test of a rules file.
///
/// ```json
/// {
///   "rules": "rules.json",
///   "now": 1700000000000,
///   "users": { "bob": { "uid": "bob" } },
///   "data": { "users": { "bob": { "level": 4 } } },
///   "cases": [
///     { "name": "one step up", "as": "bob", "set": "/users/bob/level", "value": 5, "expect": "allowed" },
///     { "name": "strangers see nothing", "as": null, "read": "/users/bob", "expect": "denied" }
///   ]
/// }
/// ```
///
/// A case is one of `read` (with a `query`, if it has one), `set`, `update` (both with a `value`) and `delete`. Every case
/// begins with the file's `data`, or with its own. `by` names the rule that must decide: `".validate /users/$uid/level"`, or
/// `"none"`.
public struct RuleCases: Sendable {
  /// The file with the rules, relative to this one; nil if it names none.
  public let rules: String?
  /// The cases, in the order of the file.
  public let cases: [RuleCase]

  /// Reads a file of cases.
  public init(_ json: JSON) throws(RuleCaseError) {
    try Self.check(json, "The file", ["rules", "now", "users", "data", "cases"])
    rules = json["rules"]?.string
    guard let rows = json["cases"]?.array, !rows.isEmpty else {
      throw RuleCaseError("The file must have \"cases\": a list with at least one case.")
    }
    let frame = Frame(
      users: json["users"] ?? .object([]), data: try Self.node(json["data"] ?? .null, name: "data"),
      now: json["now"]?.int ?? 1_700_000_000_000)
    var cases: [RuleCase] = []
    for (index, row) in rows.enumerated() {
      let name = row["name"]?.string ?? "case \(index + 1)"
      do throws(RuleCaseError) {
        cases.append(try Self.ruleCase(row, name: name, frame: frame))
      } catch {
        throw RuleCaseError("\(name): \(error.message)")
      }
    }
    self.cases = cases
  }

  /// What all cases have in common.
  private struct Frame {
    let users: JSON
    let data: TreeNode
    let now: Int64
  }

  private static func ruleCase(_ row: JSON, name: String, frame: Frame) throws(RuleCaseError) -> RuleCase {
    try check(
      row, "A case", ["name", "as", "read", "query", "set", "update", "delete", "value", "data", "now", "expect", "by"])
    let isAllowed: Bool
    switch row["expect"]?.string {
    case "allowed": isAllowed = true
    case "denied": isAllowed = false
    default: throw RuleCaseError("\"expect\" must be \"allowed\" or \"denied\".")
    }
    return RuleCase(
      name: name, auth: try auth(row["as"], users: frame.users), action: try action(row),
      data: try row["data"].map { (json) throws(RuleCaseError) in try node(json, name: "data") } ?? frame.data,
      now: row["now"]?.int ?? frame.now, isAllowed: isAllowed, decidedBy: row["by"]?.string)
  }

  private static func auth(_ json: JSON?, users: JSON) throws(RuleCaseError) -> JSON? {
    switch json {
    case nil: throw RuleCaseError("\"as\" must say who asks: a name from \"users\", an object, or null for nobody.")
    case .null: return nil
    case .string(let name):
      guard let user = users[name] else { throw RuleCaseError("\"users\" has no \"\(name)\".") }
      return user.isNull ? JSON?.none : user
    case .some(let json):
      guard json.object != nil else { throw RuleCaseError("\"as\" must be a name, an object, or null.") }
      return json
    }
  }

  private static func action(_ row: JSON) throws(RuleCaseError) -> RuleCase.Action {
    let kinds = ["read", "set", "update", "delete"].filter { row[$0] != nil }
    guard kinds.count == 1, let kind = kinds.first, let text = row[kind]?.string else {
      throw RuleCaseError("A case has exactly one of read, set, update and delete, with a path: \"read\": \"/users/bob\".")
    }
    let value = row["value"]
    if kind == "set" || kind == "update", value == nil { throw RuleCaseError("\"\(kind)\" needs a \"value\".") }
    do {
      let target = try PathTarget(parsing: text)
      switch kind {
      case "read": return .read(target.path, try query(row["query"]))
      case "set": return .write(try .set(target, json: value ?? .null))
      case "update": return .write(try .update(target.path, json: value ?? .null))
      default: return .write(.remove(target.path))
      }
    } catch {
      throw RuleCaseError("\(error)")
    }
  }

  /// `{"orderBy": "$key", "startAt": "a", "limitToFirst": 10}`
  private static func query(_ json: JSON?) throws(RuleCaseError) -> Query? {
    guard let json else { return nil }
    try check(json, "A query", ["orderBy", "startAt", "endAt", "equalTo", "limitToFirst", "limitToLast"])
    let order: NodeOrder
    switch json["orderBy"]?.string ?? "$key" {
    case "$key": order = .key
    case "$value": order = .value
    case "$priority": order = .priority
    case let name:
      guard let child = NodeOrder(indexName: name) else { throw RuleCaseError("\"orderBy\" cannot be \"\(name)\".") }
      order = child
    }
    var query = Query(order: order)
    if let start = json["startAt"] ?? json["equalTo"] { query.start = try bound(start, order: order, isStart: true) }
    if let end = json["endAt"] ?? json["equalTo"] { query.end = try bound(end, order: order, isStart: false) }
    if let count = json["limitToFirst"]?.int { query.limit = .first(Int(clamping: count)) }
    if let count = json["limitToLast"]?.int { query.limit = .last(Int(clamping: count)) }
    return query
  }

  private static func bound(_ json: JSON, order: NodeOrder, isStart: Bool) throws(RuleCaseError) -> QueryBound {
    if order == .key, let key = json.string { return .key(Key(unchecked: key)) }
    let scalar: Scalar?
    switch json {
    case .null: scalar = nil
    case .bool(let value): scalar = .bool(value)
    case .int(let value): scalar = .int(value)
    case .double(let value): scalar = .number(value)
    case .string(let value): scalar = .string(value)
    case .array, .object: throw RuleCaseError("A bound of a query must be a text, a number, a boolean or null.")
    }
    return isStart ? .start(scalar) : .end(scalar)
  }

  private static func node(_ json: JSON, name: String) throws(RuleCaseError) -> TreeNode {
    do {
      return try TreeNode(json: json)
    } catch {
      throw RuleCaseError("\"\(name)\": \(error)")
    }
  }

  private static func check(_ json: JSON, _ what: String, _ known: [String]) throws(RuleCaseError) {
    guard let members = json.object else { throw RuleCaseError("\(what) must be an object.") }
    if let other = members.first(where: { !known.contains($0.key) }) {
      throw RuleCaseError("\(what) has an unknown member \"\(other.key)\"; there are \(known.joined(separator: ", ")).")
    }
  }
}
