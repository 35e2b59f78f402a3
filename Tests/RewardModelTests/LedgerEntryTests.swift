import RewardModel
import Testing

@Suite struct LedgerEntryTests {
  /// What an entry is made from; a test changes one field at a time.
  struct Draft {
    var sequence: Int64 = 2
    var revision: Int64 = 7
    var time: Int64 = 1_700_000_000_000
    var debit = "issuance:level5"
    var credit = "user:bob"
    var amount: Int64 = 50
    var unit = "pieces_of_eight"
    var code = "level5"
    var key = "level5/bob"
    var event: String? = "1-7:/users/bob/level"
    var function: String? = "rewardReferrals"
    var subject: String? = "eve"
    var reverses: Int64? = 1
    var reason: String? = "late"
    var allowsNegative = false
    var expiresAt: Int64? = 9
    var debitAfter: Int64 = -50
    var creditAfter: Int64 = 50
    var previousHash = [UInt8](repeating: 3, count: 32)

    var transfer: LedgerTransfer {
      LedgerTransfer(
        debit: LedgerAccount(debit), credit: LedgerAccount(credit), amount: amount, unit: unit, code: code,
        key: BusinessKey(key), event: event, function: function, subject: subject, reverses: reverses, reason: reason,
        allowsNegative: allowsNegative, expiresAt: expiresAt)
    }

    var entry: LedgerEntry {
      LedgerEntry(
        sequence: sequence, revision: revision, time: time, transfer: transfer, debitAfter: debitAfter,
        creditAfter: creditAfter, previousHash: previousHash)
    }

    func with(_ change: (inout Draft) -> Void) -> Draft {
      var copy = self
      change(&copy)
      return copy
    }
  }

  /// A change of one field, by name.
  struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether a repetition under the same key may differ here and still be answered with the first entry.
    let isBesideTheBody: Bool
    let apply: @Sendable (inout Draft) -> Void

    init(_ name: String, besideTheBody: Bool = false, _ apply: @escaping @Sendable (inout Draft) -> Void) {
      self.name = name
      isBesideTheBody = besideTheBody
      self.apply = apply
    }

    var testDescription: String { name }
  }

  static let changes: [Change] = [
    Change("sequence", besideTheBody: true) { $0.sequence = 3 },
    Change("revision", besideTheBody: true) { $0.revision = 8 },
    Change("time", besideTheBody: true) { $0.time += 1 },
    Change("debit") { $0.debit = "issuance:level6" },
    Change("credit") { $0.credit = "user:eve" },
    Change("amount") { $0.amount = 51 },
    Change("unit") { $0.unit = "gems" },
    Change("code") { $0.code = "level6" },
    Change("key", besideTheBody: true) { $0.key = "level5/eve" },
    Change("event") { $0.event = "1-8:/users/bob/level" },
    Change("no event") { $0.event = nil },
    Change("function") { $0.function = "other" },
    Change("no function") { $0.function = nil },
    Change("subject") { $0.subject = "mallory" },
    Change("no subject") { $0.subject = nil },
    Change("an empty subject") { $0.subject = "" },
    Change("reverses") { $0.reverses = 0 },
    Change("no reverses") { $0.reverses = nil },
    Change("reason") { $0.reason = "later" },
    Change("no reason") { $0.reason = nil },
    Change("allowsNegative", besideTheBody: true) { $0.allowsNegative = true },
    Change("expiresAt") { $0.expiresAt = 10 },
    Change("no expiresAt") { $0.expiresAt = nil },
    Change("debitAfter", besideTheBody: true) { $0.debitAfter = -51 },
    Change("creditAfter", besideTheBody: true) { $0.creditAfter = 51 },
    Change("previousHash", besideTheBody: true) { $0.previousHash[31] = 4 },
    Change("the border between two texts") { ($0.unit, $0.code) = ("pieces_of_eightl", "evel5") },
    Change("a text that is nil, and the next that was") { ($0.subject, $0.reason) = (nil, "eve") },
    Change("another spelling of the same letter") { $0.reason = "l\u{E1}te" },
    Change("and its other spelling") { $0.reason = "la\u{301}te" },
  ]

  @Test("the hash covers the field", arguments: changes)
  func coverage(_ change: Change) {
    #expect(Draft().with(change.apply).entry.hash != Draft().entry.hash)
  }

  @Test("no two changes lead to one hash, and none of them changes it by itself")
  func distinct() {
    let hashes = Self.changes.map { Draft().with($0.apply).entry.hash } + [Draft().entry.hash]
    #expect(Set(hashes).count == hashes.count)
    #expect(hashes.allSatisfy { $0.count == 32 })
    #expect(Draft().entry == Draft().entry)
  }

  @Test("a stored entry keeps its hash in every version of the program")
  func pinned() {
    // From an implementation of its own: Python's hashlib over the documented fields.
    let hex = Draft().entry.hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(hex == "24de28fccf92582ff066f12fae5329788cf3c51d65b0b764f52782da4dded780")
  }

  @Test("a repetition asks for the same if everything but the key and the permission is the same", arguments: changes)
  func bodies(_ change: Change) {
    let (first, second) = (Draft().transfer, Draft().with(change.apply).transfer)
    #expect(first.hasSameBody(as: second) == change.isBesideTheBody)
    #expect(second.hasSameBody(as: first) == change.isBesideTheBody)
  }

  @Test("a chain verifies entry by entry, and not with one missing, exchanged or altered")
  func chain() {
    let zero = [UInt8](repeating: 0, count: 32)
    let first = Draft(sequence: 1, previousHash: zero).entry
    let second = Draft(sequence: 2, previousHash: first.hash).entry
    let third = Draft(sequence: 3, previousHash: second.hash).entry
    #expect(first.verify(after: nil))
    #expect(second.verify(after: first))
    #expect(third.verify(after: second))
    #expect(!third.verify(after: first))
    #expect(!second.verify(after: nil))
    #expect(!second.verify(after: second))
    for change in Self.changes {
      let altered = Draft(sequence: 2, previousHash: first.hash).with(change.apply).entry
      let forged = LedgerEntry(
        sequence: altered.sequence, revision: altered.revision, time: altered.time, transfer: altered.transfer,
        debitAfter: altered.debitAfter, creditAfter: altered.creditAfter, previousHash: altered.previousHash,
        hash: second.hash)
      #expect(!forged.verify(after: first), "\(change.name)")
    }
  }

  @Test("an entry gives and takes the same, and says nothing of other accounts")
  func balances() {
    let entry = Draft().entry
    let (giver, getter, other) = (entry.transfer.debit, entry.transfer.credit, LedgerAccount("user:eve"))
    #expect(entry.change(of: giver) == -50)
    #expect(entry.change(of: getter) == 50)
    #expect(entry.change(of: other) == 0)
    #expect(entry.balance(of: giver) == -50)
    #expect(entry.balance(of: getter) == 50)
    #expect(entry.balance(of: other) == nil)
  }
}

@Suite struct LedgerReportTests {
  @Test("a report lists the first thousand faults and counts all")
  func cap() {
    var report = LedgerReport()
    #expect(report.isSound)
    for sequence in 1...1500 { report.note(LedgerReport.Finding(.chain, sequence: Int64(sequence), message: "altered")) }
    #expect(report.faultCount == 1500)
    #expect(report.faults.count == LedgerReport.listedMax)
    #expect(report.faults.first?.sequence == 1)
    #expect(!report.isSound)
  }

  @Test("a place without an integer is listed, and breaks no rule")
  func unbacked() {
    var report = LedgerReport()
    let place = LedgerReport.Unbacked(path: "/users/bob/gold", account: LedgerAccount("user:bob"), unit: "gold", found: "a map")
    for _ in 0..<1001 { report.note(place) }
    #expect(report.unbackedCount == 1001)
    #expect(report.unbacked.count == LedgerReport.listedMax)
    #expect(report.isSound)
  }

  @Test("the first broken entry is the first fault that has one")
  func firstBroken() {
    var report = LedgerReport()
    #expect(report.firstBrokenEntry == nil)
    report.note(LedgerReport.Finding(.sum, message: "the accounts do not sum to zero"))
    #expect(report.firstBrokenEntry == nil)
    report.note(LedgerReport.Finding(.balance, sequence: 4, message: "5, expected 6"))
    report.note(LedgerReport.Finding(.chain, sequence: 9, message: "altered"))
    #expect(report.firstBrokenEntry == 4)
  }
}
