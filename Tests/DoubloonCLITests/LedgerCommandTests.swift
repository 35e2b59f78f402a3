import ServerTestSupport
import Testing
import TreeModel

@Suite struct LedgerCommandTests {
  private static let entry: JSON = [
    "sequence": 7, "time": 1000, "debit": "issuance:level5", "credit": "user:bob", "amount": 50, "unit": "pieces_of_eight",
    "code": "level5", "key": "level5/alice", "debitAfter": -50, "creditAfter": 1050, "function": "rewardReferrals",
    "event": "1-42:/users/alice/level", "revision": 43, "hash": "",
  ]

  /// What an audit answers.
  private static func report(entries: JSON, faults: JSON = [], unbacked: JSON = []) -> JSON {
    let (faultCount, unbackedCount) = (Int64(faults.array?.count ?? 0), Int64(unbacked.array?.count ?? 0))
    return [
      "sound": .bool(faultCount == 0), "entries": entries, "accounts": 2, "lastHash": "", "faultCount": .int(faultCount),
      "faults": faults, "unbackedCount": .int(unbackedCount), "unbacked": unbacked,
    ]
  }

  private func run(_ arguments: [String], _ answer: @escaping @Sendable (TinyServer.Request) -> TinyServer.Answer) async throws
    -> (
      CommandRun, [TinyServer.Request]
    )
  {
    try await TinyServer.run(answer) { server in
      (await CommandRun(arguments + ["--server", server.address]), server.requests)
    }
  }

  @Test("a balance is a sentence")
  func balance() async throws {
    let (run, requests) = try await run(["ledger", "balance", "bob"]) { _ in
      .json(["account": "user:bob", "unit": "pieces_of_eight", "balance": 1050])
    }
    #expect(run.out == "user:bob has 1,050 pieces_of_eight.\n")
    #expect(requests.map(\.uri) == ["/admin/v1/ledger/balance?account=user%3Abob"])
  }

  @Test("a statement shows both directions")
  func statement() async throws {
    let entries: JSON = [
      "account": "user:bob",
      "entries": [
        [
          "sequence": 8, "revision": 44, "time": 2000, "debit": "user:bob", "credit": "shop", "amount": 10,
          "unit": "pieces_of_eight", "code": "shop", "key": "shop/1", "debitAfter": 1040, "creditAfter": 10, "hash": "",
        ], Self.entry,
      ],
      "next": 7,
    ]
    let (run, _) = try await run(["ledger", "statement", "bob", "--limit", "2"]) { _ in .json(entries) }
    #expect(run.out.contains("    8  1970-01-01T00:00:02.000Z  shop       -10    1,040"))
    #expect(run.out.contains("    7  1970-01-01T00:00:01.000Z  level5     +50    1,050  pieces_of_eight  issuance:level5"))
    #expect(run.out.contains("rewardReferrals, 1-42:/users/alice/level"))
    #expect(run.out.hasSuffix("There may be more: add --before 7.\n"))
  }

  @Test("verify walks all namespaces, and what is unsound is exit code 1")
  func verify() async throws {
    let (run, requests) = try await run(["ledger", "verify"]) { request in
      if request.path == "/admin/v1/namespaces" {
        let rows = ["a", "b"].map { ["name": .string($0), "createdAt": 0, "revision": 1, "entries": 1] as JSON }
        return .json(["namespaces": .array(rows)])
      }
      if request.uri.contains("ns=a") {
        return .json(
          Self.report(
            entries: 1, unbacked: [["path": "/x", "account": "user:x", "unit": "coins", "found": "a string"]]))
      }
      return .json(Self.report(entries: 3, faults: [["kind": "chain", "sequence": 2, "message": "Broken."]]))
    }
    #expect(run.code == 1)
    #expect(
      run.out == """
        a: sound (1 entry, 2 accounts).
          /x holds no integer and counts as 0 (a string).
        b: NOT SOUND, 1 fault (3 entries, 2 accounts).
          chain at entry 2: Broken.

        """)
    #expect(requests.count == 3)
    let (one, oneRequests) = try await self.run(["ledger", "verify", "--ns", "a", "--json"]) { _ in
      .json(Self.report(entries: 1))
    }
    #expect(one.code == 0)
    let printed = JSON.object([.init(key: "namespace", value: "a")] + (Self.report(entries: 1).object ?? []))
    #expect(try JSONParser.parse(one.out) == [printed])
    #expect(oneRequests.map(\.uri) == ["/admin/v1/ledger/verify?ns=a"])
  }

  @Test("reversals and transfers send what was asked for")
  func changes() async throws {
    let (reversal, sent) = try await run(["ledger", "reverse", "7", "--reason", "oops", "--if-spent", "refuse"]) { _ in
      .json(["entry": Self.entry, "repeated": true])
    }
    #expect(
      reversal.out.hasPrefix("Done before; nothing was posted. Entry 7: 50 pieces_of_eight from issuance:level5 to user:bob"))
    #expect(sent.first?.json == ["sequence": 7, "reason": "oops", "policy": "refuse"])
    let (_, transfers) = try await run([
      "ledger", "transfer", "issuance:support", "bob", "50", "--code", "support", "--once", "support/118", "--reason", "ticket",
    ]) { _ in .json(["entry": Self.entry, "repeated": false]) }
    #expect(
      transfers.first?.json == [
        "debit": "issuance:support", "credit": "user:bob", "amount": 50, "code": "support",
        "key": "support/118", "reason": "ticket",
      ])
  }

  @Test("a key that is not accepted says how to name the right one")
  func unauthorized() async throws {
    let (run, _) = try await run(["ledger", "balance", "bob"]) { _ in .json(["error": "Permission denied"], status: 401) }
    #expect(run.code == 1)
    #expect(run.err.contains("did not accept the key (Permission denied); name the right one with --key or DOUBLOON_KEY."))
  }
}
