import AdminModel
import ServerTestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import DoubloonCLI

@Suite struct TriggersCommandTests {
  private static func event(_ revision: Int, outcome: String? = "done") -> JSON {
    [
      "id": .string("1-\(revision):/users/bob/level"), "kind": "updated", "path": "/users/bob/level",
      "time": .int(Int64(revision) * 1000),
      "actor": "user:bob", "hop": 0, "revision": .int(Int64(revision)),
      "executions": outcome.map {
        [
          [
            "event": "1-1:/a", "function": "rewardReferrals", "outcome": .string($0), "attempt": 1, "startedAt": 5000,
            "finishedAt": 5001, "settings": ["amount": 50],
          ]
        ]
      } ?? [],
      "deliveries": outcome == nil
        ? [
          [
            "event": "1-1:/a", "function": "rewardReferrals", "state": "dead", "kind": "updated", "hop": 0, "attempts": 12,
            "crashes": 0, "lastError": "balance_type", "updatedAt": 6000,
          ]
        ] : [],
    ]
  }

  /// A page as the server answers it.
  private static func page(_ events: [JSON], next: JSON? = nil) -> JSON {
    JSON(fields: [
      ("events", .array(events)), ("next", next), ("scanned", 0), ("scannedThrough", 0), ("complete", .bool(next == nil)),
    ])
  }

  /// An event of the list, as a value and as it came.
  private static func listed(_ revision: Int, outcome: String? = "done") throws -> AdminAnswer<AdminEvents.Event> {
    let json = event(revision, outcome: outcome)
    return AdminAnswer(json: json, value: try json.decoded(), status: 200)
  }

  @Test("the list pages on until it has enough, and filters become parameters")
  func list() async throws {
    try await TinyServer.run({ request in
      // A page may be empty and still not the last.
      if !request.uri.contains("cursor=") { return .json(Self.page([], next: "9:/a")) }
      return .json(Self.page([Self.event(3), Self.event(2, outcome: nil)]))
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
    try await TinyServer.run({ _ in .json(Self.page([])) }) { server in
      #expect(await CommandRun(["triggers", "list", "--server", server.address]).out == "No events match.\n")
      let run = await CommandRun(["triggers", "list", "--server", server.address, "--json"])
      let printed = try JSONParser.parse(run.out)
      #expect(printed == ["events": [], "scannedThrough": 0])
    }
  }

  @Test("one event is shown whole")
  func show() async throws {
    var members = Self.event(42).object ?? []
    members += [
      JSON.Member(key: "before", value: 4), JSON.Member(key: "after", value: 5),
      JSON.Member(
        key: "entries",
        value: [
          [
            "sequence": 1, "revision": 43, "time": 5001, "debit": "issuance:level5", "credit": "user:bob", "amount": 50,
            "unit": "pieces_of_eight", "code": "level5", "key": "level5/alice", "debitAfter": -50, "creditAfter": 50,
            "hash": "",
          ]
        ]),
      JSON.Member(key: "write", value: nil),
    ]
    members += ["failures", "matches", "effects", "children", "outbox"].map { JSON.Member(key: $0, value: []) }
    let event = JSON.object(members)
    try await TinyServer.run({ _ in .json(event) }) { server in
      let run = await CommandRun(["triggers", "show", "1-42:/users/bob/level", "--server", server.address])
      #expect(server.requests.map(\.uri) == ["/admin/v1/events/1-42%3A/users/bob/level"])
      for text in [
        "Event      1-42:/users/bob/level", "Written by user:bob", "  before   4", "  after    5", "rewardReferrals: done",
        "  startedAt   1970-01-01T00:00:05.000Z", "  settings    amount 50", "issuance:level5",
      ] {
        #expect(run.out.contains(text), "\(run.out)")
      }
    }
  }

  @Test("following shows what is new, oldest first, and again what changed")
  func follow() throws {
    var follower = EventFollower()
    func ids(_ fresh: [EventFollower.Fresh]) -> [String] { fresh.flatMap(\.rows).map { "\($0.event.prefix(3)) \($0.outcome)" } }
    #expect(try ids(follower.take([Self.listed(3), Self.listed(2), Self.listed(1)], showing: 2)) == ["1-2 done", "1-3 done"])
    #expect(try ids(follower.take([Self.listed(3), Self.listed(2), Self.listed(1)], showing: 2)).isEmpty)
    #expect(try !follower.reaches([Self.listed(5), Self.listed(4)]))
    #expect(try follower.reaches([Self.listed(4), Self.listed(3)]))
    #expect(try ids(follower.take([Self.listed(4, outcome: nil), Self.listed(3), Self.listed(2)], showing: 2)) == ["1-4 dead"])
    #expect(try ids(follower.take([Self.listed(4), Self.listed(3), Self.listed(2)], showing: 2)) == ["1-4 done"])
  }
}
