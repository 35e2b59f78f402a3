import ServerTestSupport
import Testing
import TreeModel

@testable import DoubloonCLI

@Suite struct TriggersCommandTests {
  private static func event(_ revision: Int, outcome: String? = "done") -> JSON {
    [
      "id": .string("1-\(revision):/users/bob/level"), "kind": "updated", "path": "/users/bob/level",
      "time": .int(Int64(revision) * 1000),
      "actor": "user:bob", "hop": 0, "revision": .int(Int64(revision)),
      "executions": outcome.map {
        [["function": "rewardReferrals", "outcome": .string($0), "attempt": 1, "startedAt": 5000, "settings": ["amount": 50]]]
      } ?? [],
      "deliveries": outcome == nil
        ? [["function": "rewardReferrals", "state": "dead", "attempts": 12, "lastError": "balance_type"]] : [],
    ]
  }

  @Test("the list pages on until it has enough, and filters become parameters")
  func list() async throws {
    try await TinyServer.run({ request in
      // A page may be empty and still not the last.
      if !request.uri.contains("cursor=") { return .json(["events": [], "next": "9:/a"]) }
      return .json(["events": [Self.event(3), Self.event(2, outcome: nil)]])
    }) { server in
      let run = await CommandRun([
        "events", "list", "--server", server.address, "--function", "rewardReferrals", "--outcome", "dead", "--path",
        "users", "--uid", "bob", "--since", "1970-01-01T00:00:01Z", "--limit", "5", "--ns", "n",
      ])
      #expect(run.code == 0, "\(run.err)")
      #expect(
        run.out == """
          TIME                      EVENT                 KIND     BY        FUNCTION         OUTCOME  TRIES  REASON
          1970-01-01T00:00:03.000Z  1-3:/users/bob/level  updated  user:bob  rewardReferrals  done         1
          1970-01-01T00:00:02.000Z  1-2:/users/bob/level  updated  user:bob  rewardReferrals  dead        12  balance_type

          """)
      let query = "ns=n&function=rewardReferrals&outcome=dead&path=%2Fusers&uid=bob&since=1000&limit=5"
      #expect(server.requests.map(\.uri) == ["/admin/v1/events?\(query)", "/admin/v1/events?\(query)&cursor=9%3A%2Fa"])
    }
  }

  @Test("nothing found is said, and JSON is JSON")
  func empty() async throws {
    try await TinyServer.run({ _ in .json(["events": []]) }) { server in
      #expect(await CommandRun(["triggers", "list", "--server", server.address]).out == "No events match.\n")
      let run = await CommandRun(["triggers", "list", "--server", server.address, "--json"])
      let printed = try JSONParser.parse(run.out)
      #expect(printed == ["events": []])
    }
  }

  @Test("one event is shown whole")
  func show() async throws {
    var members = Self.event(42).object ?? []
    members += [
      JSON.Member(key: "before", value: 4), JSON.Member(key: "after", value: 5),
      JSON.Member(key: "entries", value: [["sequence": 1, "debit": "issuance:level5", "credit": "user:bob", "amount": 50]]),
    ]
    let event = JSON.object(members)
    try await TinyServer.run({ _ in .json(event) }) { server in
      let run = await CommandRun(["triggers", "show", "1-42:/users/bob/level", "--server", server.address])
      #expect(server.requests.map(\.uri) == ["/admin/v1/events/1-42%3A/users/bob/level"])
      for text in [
        "Event      1-42:/users/bob/level", "Written by user:bob", "  before   4", "  after    5", "rewardReferrals: done",
        "  startedAt  1970-01-01T00:00:05.000Z", "  settings   amount 50", "issuance:level5",
      ] {
        #expect(run.out.contains(text), "\(run.out)")
      }
    }
  }

  @Test("following shows what is new, oldest first, and again what changed")
  func follow() {
    var follower = EventFollower()
    func ids(_ fresh: [EventFollower.Fresh]) -> [String] { fresh.flatMap(\.rows).map { "\($0.event.prefix(3)) \($0.outcome)" } }
    #expect(ids(follower.take([Self.event(3), Self.event(2), Self.event(1)], showing: 2)) == ["1-2 done", "1-3 done"])
    #expect(ids(follower.take([Self.event(3), Self.event(2), Self.event(1)], showing: 2)).isEmpty)
    #expect(!follower.reaches([Self.event(5), Self.event(4)]))
    #expect(follower.reaches([Self.event(4), Self.event(3)]))
    #expect(ids(follower.take([Self.event(4, outcome: nil), Self.event(3), Self.event(2)], showing: 2)) == ["1-4 dead"])
    #expect(ids(follower.take([Self.event(4), Self.event(3), Self.event(2)], showing: 2)) == ["1-4 done"])
  }
}
