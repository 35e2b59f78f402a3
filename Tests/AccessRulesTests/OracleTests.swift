import AccessRules
import Testing
import TreeModel

/// Rows from another implementation of the rules; `OracleRows` says which.
@Suite("The hosted service's verdicts")
struct OracleTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let json: JSON
    let rule: String

    var testDescription: String { rule }
  }

  static let rows: [Row] = OracleRows.text.split(separator: "\n").map { line in
    guard let json = try? JSONParser.parse(String(line)), let rule = json["rule"]?.string else {
      preconditionFailure("The oracle's row cannot be read: \(line)")
    }
    return Row(json: json, rule: rule)
  }

  /// Rows whose verdict is another here, with the reason. There are none.
  static let departures: [String: String] = [:]

  @Test("All rows are here, and all departures are rows")
  func complete() {
    #expect(Self.rows.count == 186)
    for rule in Self.departures.keys { #expect(Self.rows.contains { $0.rule == rule }) }
  }

  @Test("Every expression is accepted or refused, and judged, as the hosted service does (check 69)", arguments: rows)
  func verdict(_ row: Row) throws {
    if Self.departures[row.rule] != nil { return }
    let rules: RuleSet
    do throws(RulesError) {
      rules = try RuleSet(parsing: Self.file(row))
    } catch {
      #expect(row.json["isValid"] == false, "refused: \(error)")
      return
    }
    guard row.json["isValid"] == true else {
      Issue.record("The hosted service refuses this.")
      return
    }
    let node = try row.json["data"].map { try TreeNode(json: $0) } ?? .absent
    let key = row.json["wildchildren"]?.object?.first?.value.string ?? "place"
    let explained = try RuleEvaluator(
      rules, auth: try Self.auth(row), now: 0, tree: NodeTree(node)
    ).explainRead(Path(parsing: key), query: Self.query(row))
    let step = try #require(explained.steps.first)
    // A rule of which a part cannot be evaluated is false as a whole, and says so.
    let failed = step.findings.contains { if case .failed = $0.outcome { true } else { false } }
    #expect(failed == (row.json["failAtRuntime"] == true), "\(explained.text)")
    #expect(explained.isAllowed == (row.json["evaluateTo"] == true), "\(explained.text)")
  }

  /// A file in which the row's rule decides who reads a child of the root.
  private static func file(_ row: Row) -> String {
    var writer = JSONWriter()
    let name = row.json["wildchildren"]?.object?.first?.key ?? "place"
    let rule: JSON = .object([JSON.Member(key: ".read", value: .string(row.rule))])
    writer.write(["rules": .object([JSON.Member(key: name, value: rule)])])
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func auth(_ row: Row) throws -> JSON? {
    switch row.json["auth"] {
    case nil, .null: nil
    case .string: try JSONParser.parse(OracleRows.bob)
    case .some(let auth): auth
    }
  }

  private static func query(_ row: Row) throws -> Query? {
    guard let json = row.json["query"] else { return nil }
    let order: NodeOrder =
      if let child = json["orderByChild"]?.string { .child(try Path(parsing: child)) } else { .value }
    var query = Query(order: order)
    func scalar(_ json: JSON) -> Scalar? {
      json.string.map { .string($0) } ?? json.int.map { .int($0) } ?? json.bool.map { .bool($0) }
    }
    if let value = json["startAt"] { query.start = .start(scalar(value)) }
    if let value = json["endAt"] { query.end = .end(scalar(value)) }
    if let value = json["equalTo"] {
      query.start = .start(scalar(value))
      query.end = .end(scalar(value))
    }
    if let count = json["limitToLast"]?.int { query.limit = .last(Int(count)) }
    return query
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files of the checkout that these tests were compiled in.
enum TestFiles {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

  /// The text of a file, by its path from the checkout's root; empty if there is none.
  static func text(of path: String) -> String {
    guard let file = fopen("\(root)/\(path)", "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}
