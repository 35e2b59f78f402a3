import RewardModel
import StorageCore
import Testing
import TextFormats
import TreeModel

@testable import PlayerLifecycle

/// The words of the answer to why, case by case.
struct WhyExplanationTests {
  private static let function = FunctionDescription(
    name: "rewardReferrals", formerly: [], pattern: "/users/{uid}/level", players: ["uid"], kinds: [.updated],
    runsOn: "an update rising to 5",
    example: (before: 4, after: 5)
  ) { _, _ in true }

  private static func change(
    _ before: TreeNode, _ after: TreeNode, _ fate: ChangeStory.Fate, revision: Int64 = 7, at path: Path = "/users/bob/level"
  ) -> ChangeStory {
    ChangeStory(
      event: EventID(epoch: 1, revision: Revision(revision), path: PathBytes(path)),
      happening: Happening(path: path, kind: EventRecord.Kind(before, after) ?? .updated, before: before, after: after),
      time: 1_700_000_000_000 + revision * 1000, actor: .user(uid: "bob"), fate: fate)
  }

  private static func story(_ changes: [ChangeStory], paused: String? = nil, isComplete: Bool = true, pruned: Int64 = 0)
    -> FunctionStory
  {
    FunctionStory(
      function: function, player: Key(unchecked: "bob"), path: "/users/bob/level", pauseReason: paused, changes: changes,
      isComplete: isComplete, prunedThrough: Revision(pruned))
  }

  private static func entry(
    _ sequence: Int64, _ debit: String = "issuance:level5", _ credit: String = "user:alice",
    function: String? = "rewardReferrals",
    event: String? = "1-7:/users/bob/level", subject: String? = nil, reverses: Int64? = nil, reason: String? = nil
  ) -> LedgerEntry {
    LedgerEntry(
      sequence: sequence, revision: 8, time: 1_700_000_008_000,
      transfer: LedgerTransfer(
        debit: LedgerAccount(debit), credit: LedgerAccount(credit), amount: 50, unit: "pieces_of_eight", code: "level5",
        key: BusinessKey("k\(sequence)"), event: event, function: function, subject: subject, reverses: reverses, reason: reason
      ),
      debitAfter: -50, creditAfter: 50, previousHash: [], hash: [])
  }

  private static let fates: [(ChangeStory, String, String?)] = {
    let waitsUntil: Int64 = 1_700_000_060_000
    return [
      (
        Self.change(4, 5, .paid([Self.entry(2)], attempt: 1)),
        "level went from 4 to 5: paid 50 pieces_of_eight to user:alice (entry 2).", nil
      ),
      (
        Self.change(
          4, 5, .paid([Self.entry(2, reason: "ghost_referrer"), Self.entry(3, "user:shop", "user:eve")], attempt: 3)),
        "level went from 4 to 5: paid 50 pieces_of_eight to user:alice (entry 2; ghost referrer) and moved 50 pieces_of_eight "
          + "from user:shop to user:eve (entry 3), at attempt 3.", nil
      ),
      (Self.change(4, 5, .done), "level went from 4 to 5: rewardReferrals handled it and moved no coins.", nil),
      (
        Self.change(3, 6, .skipped(reason: "jumped_over_5", amount: 50)),
        "level went from 3 to 6: rewardReferrals skipped it: jumped over 5.",
        "doubloon functions invoke rewardReferrals --path /users/bob/level --before 4 --after 5 --reason TEXT"
      ),
      (
        Self.change(4, 5, .skipped(reason: "not_referred", amount: 50)),
        "level went from 4 to 5: rewardReferrals skipped it: not referred.",
        "doubloon ledger transfer issuance:support PLAYER 50 --once support/1-7:/users/bob/level --reason TEXT"
      ),
      (
        Self.change(4, 5, .skipped(reason: "already_paid: entry 1 of 1-4:/users/bob/level", amount: 50)),
        "level went from 4 to 5: rewardReferrals skipped it: already paid: entry 1 of 1-4:/users/bob/level.", nil
      ),
      (
        Self.change(4, 5, .skipped(reason: "", amount: nil)),
        "level went from 4 to 5: rewardReferrals skipped it: it gave no reason.",
        "doubloon ledger transfer issuance:support PLAYER AMOUNT --once support/1-7:/users/bob/level --reason TEXT"
      ),
      (
        Self.change(4, 5, .waiting(until: waitsUntil, attempts: 1, error: "no net")),
        "level went from 4 to 5: rewardReferrals failed at attempt 1 (no net) and tries again at 2023-11-14 22:14:20 UTC.", nil
      ),
      (
        Self.change(4, 5, .paused(reason: "bad deploy")),
        "level went from 4 to 5: it waits until rewardReferrals is resumed (bad deploy).",
        "doubloon functions resume rewardReferrals"
      ),
      (
        Self.change(4, 5, .dead(attempts: 12, error: "balance_type")),
        "level went from 4 to 5: rewardReferrals gave up after 12 attempts: balance_type.",
        "doubloon replay --event 1-7:/users/bob/level --function rewardReferrals --reason TEXT"
      ),
      (Self.change(4, 5, .pending), "level went from 4 to 5: rewardReferrals has it in hand.", nil),
      (
        Self.change(4, 5, .suppressed), "level went from 4 to 5: no run, for user:bob wrote it with triggers suppressed.",
        "doubloon replay --event 1-7:/users/bob/level --function rewardReferrals --suppressed --reason TEXT"
      ),
      (
        Self.change(.absent, 5, .unwanted),
        "level was created as 5: no run, for rewardReferrals runs on an update rising to 5.",
        "doubloon functions invoke rewardReferrals --path /users/bob/level --before 4 --after 5 --reason TEXT"
      ),
      (
        Self.change(5, .absent, .unheard),
        "level was removed (it was 5): no run, for rewardReferrals was not there when it happened, or had another rule.",
        "doubloon replay --gaps --function rewardReferrals --uid bob --reason TEXT"
      ),
    ]
  }()

  @Test("Every fate has its sentence, and where something is wrong its command")
  func fates() {
    #expect(Set(Self.fates.map(\.0.fate.name)) == Set(ChangeStory.Fate.names))
    for (change, sentence, command) in Self.fates {
      let story = Self.story([change])
      #expect(WhyExplanation.sentence(change, in: story) == sentence)
      #expect(WhyExplanation.repair(change, in: story)?.command == command, "\(sentence)")
    }
  }

  @Test("A story is told in order; changes that the function does not run on are told in one breath, without commands")
  func stories() {
    let story = Self.story(
      [
        Self.change(.absent, 1, .unwanted, revision: 1), Self.change(1, 4, .unwanted, revision: 2),
        Self.change(4, 5, .dead(attempts: 12, error: "boom"), revision: 3), Self.change(5, 6, .unwanted, revision: 4),
      ], paused: "by ann", isComplete: false, pruned: 9)
    #expect(
      WhyExplanation.head(of: story)
        == "rewardReferrals runs on an update rising to 5 at /users/bob/level. It is paused (by ann).")
    #expect(
      WhyExplanation.body(of: story) == [
        "Earlier changes: doubloon data log /users/bob/level", "The log was pruned up to revision 9.",
        "2023-11-14 22:13:21 UTC  level was created as 1; level went from 1 to 4: no run, for rewardReferrals runs on an update "
          + "rising to 5.",
        "2023-11-14 22:13:23 UTC  level went from 4 to 5: rewardReferrals gave up after 12 attempts: boom.",
        "    Once the cause is mended: doubloon replay --event 1-3:/users/bob/level --function rewardReferrals --reason TEXT",
        "2023-11-14 22:13:24 UTC  level went from 5 to 6: no run, for rewardReferrals runs on an update rising to 5.",
      ])
    #expect(WhyExplanation.body(of: Self.story([])) == ["Nothing was ever written there."])
    #expect(
      WhyExplanation.body(of: Self.story([], pruned: 9)) == [
        "The log was pruned up to revision 9.", "Nothing was written there since.",
      ])
    let never = WhyExplanation.body(of: Self.story([Self.change(.absent, 5, .unwanted)]))
    let low = Self.change(3, 4, .unwanted)
    #expect(WhyExplanation.repair(low, in: Self.story([low])) == nil)
    #expect(never.count == 2 && never[1].hasPrefix("    If it should be paid all the same: doubloon functions invoke"))
  }

  @Test("An entry says how much, by whom, and because of what")
  func payments() {
    let happening = Happening(path: "/users/bob/level", kind: .updated, before: 4, after: 5)
    let time = "2023-11-14 22:13:28 UTC  "
    for (payment, sentence) in [
      (
        WhyReport.Payment(entry: Self.entry(2, subject: "bob"), isReceived: true, cause: happening, reversal: nil),
        "Entry 2: +50 pieces_of_eight (level5), by rewardReferrals, because bob's level went from 4 to 5 "
          + "(event 1-7:/users/bob/level)."
      ),
      (
        WhyReport.Payment(entry: Self.entry(2), isReceived: true, cause: nil, reversal: Self.entry(5, reason: "oops")),
        "Entry 2: +50 pieces_of_eight (level5), by rewardReferrals, for event 1-7:/users/bob/level. Taken back by entry 5: oops."
      ),
      (
        WhyReport.Payment(
          entry: Self.entry(5, "user:alice", "issuance:level5", function: nil, event: nil, reverses: 2, reason: "oops"),
          isReceived: false, cause: nil, reversal: nil),
        "Entry 5: -50 pieces_of_eight (level5), to issuance:level5, taking entry 2 back; oops."
      ),
    ] {
      #expect(WhyExplanation.sentence(payment) == time + sentence)
    }
  }

  @Test("A function whose places are spread over the tree is named, with the way to its events; no function at all is said")
  func spread() {
    let duel = FunctionDescription(
      name: "duel", formerly: [], pattern: "/games/{game}/players/{uid}", players: ["uid"], kinds: [.created],
      runsOn: "a creation"
    ) { _, _ in true }
    func page(_ functions: [FunctionDescription]) -> [String] {
      WhyExplanation.page(
        WhyReport(
          uid: Key(unchecked: "bob"), revision: Revision(9), stories: [], spread: functions, payments: [], nextPayment: nil,
          mentions: [], sawAllMentions: false))
    }
    let paths = PlayerPaths(of: Key(unchecked: "bob"), currencies: [.piecesOfEight], functions: [duel])
    #expect(paths.segment(of: duel.pattern) == 3 && paths.known(of: duel.pattern) == nil)
    #expect(paths.concerns("/games/g1/players/bob", matching: duel.pattern))
    #expect(!paths.concerns("/games/bob/players/eve", matching: duel.pattern))
    #expect(
      page([duel]).first == "duel runs on a creation at /games/{game}/players/{uid}, which is not one place. Its events: "
        + "doubloon triggers list --uid bob --function duel")
    #expect(
      page([]) == [
        "No function looks for bob.", "", "No coins ever moved on an account of bob.", "",
        "Not every player's record was looked through for bob: ask for the other player, too (doubloon why PLAYER).",
      ])
  }

  @Test("Words of a shell are quoted where they must be, and values cut where they are long")
  func words() {
    for (text, quoted) in [
      ("1-7:/users/bob/level", "1-7:/users/bob/level"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"),
      ("$(x)", "'$(x)'"),
    ] {
      #expect(WhyExplanation.quoted(text) == quoted)
    }
    let long = Happening(path: "/a", kind: .created, before: .absent, after: .leaf(.string(String(repeating: "x", count: 99))))
    #expect(WhyExplanation.happened(long) == "a was created as \"" + String(repeating: "x", count: 56) + "...")
    #expect(
      CalendarTime(milliseconds: 0).readable == "1970-01-01 00:00:00 UTC"
        && CalendarTime(milliseconds: 253_402_300_799_999).readable == "9999-12-31 23:59:59 UTC")
  }
}
