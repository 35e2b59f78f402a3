import ServerTestSupport
import Testing
import TreeModel

/// What waits for a player whose account is merged away.
struct MergedMessageTests {
  @Test("A message that waits for an account goes along when it is merged, also where that is ordered twice")
  func merging() async throws {
    try await APIServer.run(accounts: .development) { server in
      func send(_ verb: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let answer = try await server.send(verb, "/admin/v1\(path)", body?.compactText, headers: APIServer.admin)
        #expect(answer.status == 200, "\(verb) \(path): \(answer.body)")
        return answer.json ?? .null
      }
      _ = try await send(
        "POST", "/messages",
        [
          "id": "earned", "name": "Earned", "layout": "modal", "triggers": [["server": "reward"]],
          "content": ["defaultLanguage": "en", "texts": ["en": ["title": "You earned {{amount}}!"]]],
        ])
      _ = try await send("POST", "/messages/earned/publish", [:])
      for uid in ["guest", "bob"] { _ = try await send("POST", "/accounts", ["uid": .string(uid)]) }
      let paid = try await server.send(
        "POST", "/admin/v1/ledger/transfers",
        #"{"debit":"issuance:gift","credit":"user:guest","amount":50,"unit":"pieces_of_eight","code":"gift","key":"gift/1"}"#,
        headers: APIServer.admin)
      #expect(paid.status < 300, "\(paid.body)")
      for _ in 0..<2 {
        _ = try await send("POST", "/accounts/guest/merge", ["into": "bob", "balances": true, "reason": "ticket 118"])
      }
      #expect(try await send("GET", "/messages/events?uid=guest")["events"]?.array?.isEmpty == true)
      let events = try await send("GET", "/messages/events?uid=bob")["events"]?.array ?? []
      #expect(events.map { $0["id"]?.string } == ["reward-1"] && events.first?["uid"] == "bob")
    }
  }
}
