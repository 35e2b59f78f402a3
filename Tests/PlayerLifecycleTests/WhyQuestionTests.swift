import Ledger
import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import PlayerLifecycle

/// The answer to why a player was paid, or was not: from what the store remembers, case by case.
struct WhyQuestionTests {
  private static let levelUp = FunctionDescription(
    name: "rewardReferrals", pattern: "/users/{uid}/level", players: ["uid"], kinds: [.updated],
    runsOn: "an update rising to 5", example: (before: 4, after: 5)
  ) { before, after in
    guard let before = before?.doubleValue, let after = after?.doubleValue else { return false }
    return before < 5 && after >= 5
  }

  private func report(_ fixture: PlayerFixture, _ uid: String = "bob", reward: String? = nil, indexed: Bool = false) throws
    -> WhyReport
  {
    try fixture.read { snapshot in
      try WhyQuestion(
        uid: Key(unchecked: uid), reward: reward, namespace: fixture.namespace, functions: [Self.levelUp],
        currencies: [.piecesOfEight], referralPath: indexed ? ReferralPath("/users/{uid}/referred_by") : nil,
        snapshot: snapshot
      ).report()
    }
  }

  private func event(_ revision: Revision) -> EventID {
    EventID(epoch: 1, revision: revision, path: PathBytes("/users/bob/level"))
  }

  private func fates(_ fixture: PlayerFixture) throws -> [String] {
    try report(fixture).stories.first?.changes.map(\.fate.name) ?? []
  }

  @Test("A player of whom nothing is known is said to be unknown")
  func unknown() async throws {
    try await PlayerFixture.run { fixture in
      #expect(try !report(fixture).isKnown)
      #expect(try WhyExplanation.page(report(fixture)).first?.hasPrefix("There is no player bob") == true)
      try await fixture.commit([.set("/users/bob/name", "Bob")])
      #expect(try report(fixture).isKnown)
    }
  }

  @Test("Changes that the function does not run on, that were suppressed, and that it missed")
  func withoutRecords() async throws {
    try await PlayerFixture.run { fixture in
      try await fixture.commit([.set("/users/bob/level", 3)])
      try await fixture.commit([.set("/users/bob/level", 4)])
      try await fixture.commit([.set("/users/bob/level", 5)]) { $0.triggers.areSuppressed = true }
      try await fixture.commit([.set("/users/bob/level", 4)])
      try await fixture.commit([.set("/users/bob/level", 6)])
      #expect(try fates(fixture) == ["unwanted", "unwanted", "suppressed", "unwanted", "unheard"])
      #expect(try report(fixture).stories.first?.path == "/users/bob/level")
    }
  }

  @Test("What the records of deliveries and executions say of a change")
  func withRecords() async throws {
    try await PlayerFixture.run { fixture in
      let first = try await fixture.commit([.set("/users/bob/level", 4)])
      let change = try await fixture.commit([.set("/users/bob/level", 5)])
      #expect(first < change)
      let id = event(change)
      func delivery(_ state: DeliveryRecord.State) -> DeliveryRecord {
        DeliveryRecord(
          event: id, kind: .updated, hop: 0, function: "rewardReferrals", state: state, attempts: 2, crashes: 0,
          nextAttemptAt: 9, lastError: "no answer", updatedAt: 1)
      }
      for (state, fate) in [(DeliveryRecord.State.waiting, "waiting"), (.paused, "paused"), (.dead, "dead")] {
        try await fixture.commit { $0.triggers.deliveries = [delivery(state)] }
        #expect(try fates(fixture).last == fate)
      }
      #expect(try report(fixture).deadLetters.isEmpty)
      try await fixture.commit { request in
        request.triggers.settles = (id, "rewardReferrals")
        request.triggers.execution = ExecutionRecord(
          event: id, function: "rewardReferrals", outcome: .skipped, reason: "not_referred", attempt: 3, startedAt: 1,
          finishedAt: 2, settings: #"{"amount":60}"#)
      }
      guard case .skipped("not_referred", amount: 60)? = try report(fixture).stories.first?.changes.last?.fate else {
        Issue.record("The execution is not told.")
        return
      }
    }
  }

  @Test("Payments are told with what happened, and with the entry that took them back")
  func payments() async throws {
    try await PlayerFixture.run { fixture in
      try await fixture.commit([.set("/users/bob/level", 4)])
      let change = try await fixture.commit([.set("/users/bob/level", 5)])
      try await fixture.commit { request in
        request.ledger.transfers = [
          LedgerTransfer(
            debit: LedgerAccount("issuance:level5"), credit: LedgerAccount("user:bob"), amount: 50, unit: "pieces_of_eight",
            code: "level5", key: BusinessKey("level5/bob"), event: event(change).description, function: "rewardReferrals")
        ]
      }
      let entry = try #require(try fixture.ledger.entry(in: fixture.namespace, key: BusinessKey("level5/bob")))
      _ = try await fixture.ledger.reverse(entry.sequence, in: fixture.namespace, by: .admin("ann"), reason: "oops")
      let payments = try report(fixture).payments
      #expect(payments.map(\.isReceived) == [false, true])
      #expect(payments.last?.reversal?.transfer.reason == "oops")
      #expect(payments.last?.cause?.path == "/users/bob/level")
      #expect(try report(fixture, reward: "another").payments.isEmpty)
    }
  }

  @Test("Others whose record names the player are told of, with what was not paid for them")
  func mentions() async throws {
    try await PlayerFixture.run { fixture in
      try await fixture.commit([
        .set("/users/bob/name", "Bob"), .set("/users/eve/referred_by", "bob"), .set("/users/eve/level", 4),
      ])
      try await fixture.commit([.set("/users/eve/level", 5)])
      let report = try report(fixture)
      #expect(report.mentions.map(\.path) == ["/users/eve/referred_by"] && report.sawAllMentions)
      #expect(report.mentions.first?.stories.first?.changes.map(\.fate.name) == ["unheard"])
    }
  }

  @Test("Where an index of referrals is kept, few are told as by a search; of many, those who were not paid for come first")
  func indexedMentions() async throws {
    try await PlayerFixture.run { fixture in
      let players = (100..<250).map { "p\($0)" }
      func commit(_ operations: (String) throws -> WriteOperation, indexing: Bool = false) async throws {
        let written = try players.map(operations)
        try await fixture.commit(written) { request in
          if indexing {
            request.rows.records = players.map { KeyedRecordChange(kind: "referral", key: "bob/\($0)", value: "true") }
          }
        }
      }
      try await commit({ .set(try Path(parsing: "/users/\($0)"), ["referred_by": "bob", "level": 4]) }, indexing: true)
      for uid in players.dropLast(5) {
        try await fixture.commit { request in
          request.ledger.transfers = [
            LedgerTransfer(
              debit: LedgerAccount("issuance:level5"), credit: LedgerAccount("user:bob"), amount: 50, unit: "pieces_of_eight",
              code: "level5", key: BusinessKey("level5/\(uid)"), function: "rewardReferrals", subject: uid)
          ]
        }
      }
      try await commit({ .set(try Path(parsing: "/users/\($0)/level"), 5) })
      let report = try report(fixture, indexed: true)
      #expect(report.mentions.map(\.player.text) == ["p245", "p246", "p247", "p248", "p249"] && report.sawAllMentions)
    }
  }

  @Test("Dead letters of functions that are no longer registered are told where the path has the player")
  func deadLetters() async throws {
    try await PlayerFixture.run { fixture in
      let change = try await fixture.commit([.set("/users/bob/level", 4)])
      try await fixture.commit { [id = event(change)] request in
        request.triggers.deliveries = [
          DeliveryRecord(
            event: id, kind: .created, hop: 0, function: "gone", state: .dead, attempts: 12, crashes: 0, nextAttemptAt: 0,
            lastError: "no answer", updatedAt: 1)
        ]
      }
      let letters = try report(fixture).deadLetters
      #expect(letters.map(\.record.function) == ["gone"] && letters.map(\.isRegistered) == [false])
    }
  }
}
