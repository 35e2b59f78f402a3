import AdminModel
import ServerTestSupport
import Testing
import TreeModel

@testable import DoubloonCLI

/// Who brought whom, and what waits, on the command line.
struct ReferralCommandTests {
  private func run(_ arguments: [String], _ answer: JSON) async throws -> (CommandRun, [TinyServer.Request]) {
    try await TinyServer.run { _ in
      .json(answer)
    } _: { server in
      (await CommandRun(arguments + ["--server", server.address]), server.requests)
    }
  }

  @Test("referrals PLAYER lists whom the player brought, and who brought the player")
  func show() async throws {
    let (run, requests) = try await run(
      ["referrals", "alice", "--limit", "2"],
      [
        "player": "alice", "referredBy": "eve", "up": ["eve"], "next": "carl",
        "goal": ["name": "level 5", "path": "/users/{uid}/level", "value": 5],
        "referrals": [
          [
            "player": "bob", "by": "alice", "depth": 1, "state": "paid", "since": 1000, "signedUp": true, "reached": true,
            "coins": ["pieces_of_eight": 1050], "held": [:], "reversed": [:], "brought": 3, "shown": 0,
          ],
          [
            "player": "carl", "by": "alice", "depth": 1, "state": "held", "signedUp": false, "reached": false, "coins": [:],
            "held": ["pieces_of_eight": 50], "reversed": [:], "brought": 0, "shown": 0,
          ],
        ],
      ])
    #expect(run.code == 0)
    #expect(run.out.contains("alice was referred by eve."))
    #expect(run.out.contains("1,050 pieces_of_eight") && run.out.contains("LEVEL 5"))
    #expect(run.out.hasSuffix("There may be more: add --after carl.\n"))
    #expect(requests.map(\.uri) == ["/admin/v1/referrals/alice?depth=1&limit=2"])
  }

  @Test("referrals top is no player; a player of that name is shown by show")
  func top() async throws {
    let (run, requests) = try await run(
      ["referrals", "top"],
      [
        "complete": false,
        "leaders": [
          [
            "player": "bob", "referred": 1200, "signedUp": 900, "reached": 1, "coins": ["pieces_of_eight": 50],
            "reversed": [:], "clicks": 7, "installs": 3,
          ]
        ],
      ])
    #expect(run.out.contains("1,200") && run.out.contains("older entries are not counted"))
    #expect(requests.map(\.uri) == ["/admin/v1/referrals?limit=50"])
    let (_, shown) = try await self.run(["referrals", "show", "top"], ["player": "top", "up": [], "referrals": []])
    #expect(shown.map(\.uri) == ["/admin/v1/referrals/top?depth=1&limit=50"])
  }

  @Test("ledger holds lists what waits, and pays it out or gives it back by its number")
  func holds() async throws {
    let hold: JSON = [
      "sequence": 17, "time": 1000, "debit": "issuance:level5", "credit": "hold:alice", "amount": 50, "unit": "pieces_of_eight",
      "code": "hold", "key": "level5/bob", "subject": "bob", "reason": "review: more than 2 a day", "revision": 40,
      "debitAfter": -50, "creditAfter": 50, "hash": "",
    ]
    let (list, _) = try await run(["ledger", "holds", "list"], ["holds": [hold], "count": 1])
    for word in ["17", "alice", "50", "bob", "review: more than 2 a day"] { #expect(list.out.contains(word)) }
    let (none, _) = try await run(["ledger", "holds"], ["holds": [], "count": 0])
    #expect(none.out == "Nothing is held.\n")
    for action in ["release", "void"] {
      let (ended, requests) = try await run(
        ["ledger", "holds", action, "17", "--reason", "seen"], ["entry": hold, "repeated": false])
      #expect(ended.code == 0)
      #expect(requests.map(\.uri) == ["/admin/v1/ledger/holds/17/\(action)"])
      #expect(requests.first?.json == ["reason": "seen"])
    }
    let (_, requests) = try await run(["ledger", "holds", "release", "17", "--to", "eve"], ["entry": hold, "repeated": false])
    #expect(requests.first?.json == ["to": "user:eve"])
  }

  @Test("A warning of the server's stands in its status")
  func warning() {
    let none = AdminSystem.Failures(count: 0, complete: true, functions: [])
    let status = AdminSystem.Status(
      version: "1.2.3", mode: .production, startedAt: 0, time: 0, epoch: 1, namespaces: 1, defaultNamespace: "d",
      writer: AdminSystem.Writer(queueDepth: 0), sockets: 1, streams: 0, listens: 2,
      warnings: ["Most requests come from 10.0.0.5, a private address."], problems: [], pausedFunctions: [],
      deadLetters: none, retries: none,
      lastVerification: AdminSystem.LastVerification(at: 0, durationMs: 210, sound: true),
      lastBackup: AdminSystem.LastBackup(at: 0, failure: "the disk is full"))
    let text = StatusCommand.text(ready: AdminSystem.Readiness(status: "ready"), status: status)
    #expect(text.contains("Warning: Most requests come from 10.0.0.5"))
    #expect(text.contains("1.2.3") && text.contains("1 socket, 0 streams, 2 listens"))
    #expect(text.contains("sound, in 210 ms") && text.contains("failed: the disk is full"))
  }
}
