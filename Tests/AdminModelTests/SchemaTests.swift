import TreeModel
import Testing

@testable import AdminModel

/// The schemas of the surface follow from its types, and its types from JSON.
struct SchemaTests {
  @Test("A type shows its fields in their order: names, types, which may be missing, and what is noted of them")
  func fields() {
    let fields = JSONSchema.fields(of: AdminEvents.Execution.self)
    #expect(
      fields.map(\.name) == [
        "event", "function", "outcome", "reason", "attempt", "startedAt", "finishedAt", "effect", "settings",
      ])
    #expect(fields.filter { !$0.isRequired }.map(\.name) == ["reason", "effect", "settings"])
    #expect(fields.first { $0.name == "effect" }?.text == "the revision of its commit")
    #expect(fields.first { $0.name == "outcome" }?.schema.document == ["type": "string", "enum": ["done", "skipped"]])
    #expect(fields.first { $0.name == "startedAt" }?.schema.document == JSONSchema.time.document)
    #expect(JSONSchema(of: AdminEvents.Execution.self).document == ["$ref": "#/components/schemas/Execution"])
  }

  @Test("Names of the wire, narrower schemas and nullable members are as declared")
  func notes() throws {
    let order = AdminFunctions.invoke.body ?? []
    #expect(order.map(\.name) == ["path", "before", "after", "as", "reason"])
    #expect(order.last?.schema.document == JSONSchema.filled.document)
    let detail = JSONSchema.fields(of: AdminEvents.Detail.self)
    #expect(detail.contains { $0.name == "requestId" && !$0.isRequired })
    guard case .nullable = try #require(detail.first { $0.name == "write" }).schema else {
      Issue.record("write is not nullable")
      return
    }
    #expect(AdminEvents.list.query.map(\.name).prefix(3) == ["ns", "function", "outcome"])
    #expect(AdminFunctions.list.query.map(\.name) == ["window"] && AdminFunctions.list.body == nil)
    #expect(AdminFunctions.resume.body?.isEmpty == true)
  }

  @Test("Values become JSON in the order of their fields and come back; unknown members are passed over")
  func coding() throws {
    let json: JSON = [
      "sequence": 1, "revision": 2, "time": 3, "debit": "issuance:gift", "credit": "user:bob", "amount": 5, "unit": "coins",
      "code": "gift", "key": "gift/bob", "event": "1-2:/users/bob", "debitAfter": -5, "creditAfter": 5, "hash": "00ff",
    ]
    let entry = try json.decoded(as: AdminLedger.Entry.self)
    #expect(entry.reason == nil && entry.debitAfter == -5 && entry.time == 3)
    #expect(JSON(encoding: entry) == json)
    let newer = JSON.object((json.object ?? []) + [.init(key: "colour", value: "red")])
    #expect(try JSON(encoding: newer.decoded(as: AdminLedger.Entry.self)) == json)
    #expect(JSON(encoding: Done()) == ["status": "ok"])
    let counts: JSON = ["b": 1, "a": 2]
    #expect(try JSON(encoding: counts.decoded(as: NamedValues<Int64>.self)) == counts)
    #expect(JSON(encoding: Nullable<AdminEvents.Commit>(nil)) == .null)
  }

  @Test("Parameters are texts; what does not fit is named by its path")
  func texts() throws {
    let query = try (["limit": "5", "count": "true", "outcome": "dead"] as JSON)
      .decoded(as: AdminEvents.Query.self, parsesText: true)
    #expect(query.limit == 5 && query.count == true && query.outcome == .dead)
    #expect(throws: DecodingError.self) { try (["limit": "5"] as JSON).decoded(as: AdminEvents.Query.self) }
    let wrong: JSON = ["functions": [["name": 1]]]
    do {
      _ = try wrong.decoded(as: AdminFunctions.List.self)
      Issue.record("it was read")
    } catch DecodingError.typeMismatch(_, let context) {
      #expect(context.codingPath.map(\.stringValue) == ["functions", "0", "name"])
    }
  }
}
