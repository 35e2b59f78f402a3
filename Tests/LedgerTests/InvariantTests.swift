import Ledger
import RewardModel
import StorageCore
import TestSupport
import Testing
import TreeModel

@Suite("The sum of the ledger equals the balances in the tree, no matter who writes")
struct InvariantTests {
  @Test("Checks 55 and 56: after random writes, transfers, imports and refusals", arguments: [1, 2, 3, 4] as [UInt64])
  func random(seed: UInt64) async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    var script = RandomScript(seed: seed)
    var model = NaiveLedger()
    var accepted = 0
    for step in 0..<300 {
      let (operations, transfers, isImport) = script.next()
      let receipt: CommitReceipt
      do throws(CommitError) {
        receipt = try await fixture.write(operations, transfers: transfers, isImport: isImport)
        accepted += 1
      } catch {
        let isFine = ["balanceType", "balanceOverflow", "insufficientFunds", "keyTaken", "invalidTransfer"]
          .contains(error.code.name)
        #expect(isFine, "seed \(seed), step \(step): \(error)")
        continue
      }
      for entry in receipt.entries { model.add(entry) }
      try compare(fixture, model, "seed \(seed), step \(step)")
      if step % 20 == 0 { try audit(fixture, "seed \(seed), step \(step)") }
    }
    try audit(fixture, "seed \(seed)")
    #expect(accepted > 100)
  }

  private func audit(_ fixture: LedgerFixture, _ place: Comment) throws {
    let report = try fixture.verify()
    #expect(report.isSound, "\(place): \(report.faults)")
  }

  private func compare(_ fixture: LedgerFixture, _ model: NaiveLedger, _ place: Comment) throws {
    for uid in RandomScript.players {
      let inTree = try fixture.node(balanceKey(uid)).scalar?.intValue ?? 0
      #expect(inTree == model.balances[LedgerAccount("user:\(uid)")] ?? 0, "\(place), \(uid)")
    }
    let sum = model.balances.values.reduce(Int128(0)) { $0 + Int128($1) }
    #expect(sum == 0, place)
  }
}

/// The ledger as a child would keep it: every entry, added up.
struct NaiveLedger {
  private(set) var balances: [LedgerAccount: Int64] = [:]

  mutating func add(_ entry: LedgerEntry) {
    balances[entry.transfer.debit, default: 0] -= entry.transfer.amount
    balances[entry.transfer.credit, default: 0] += entry.transfer.amount
  }
}

/// Requests by a generator with a seed: sensible ones, odd ones, absurd ones.
struct RandomScript {
  static let players = ["ann", "bob", "caf\u{E9}", "cafe\u{301}", "7"]
  private static let amounts: [Int64] = [1, 5, 50, 1000, .max / 2, .max]
  private static let balances: [TreeNode] = [
    0, 1, 50, -20, 120, .leaf(.int(.max)), .leaf(.int(.min)), 1.5, "10", true, .absent, ["a": 1], .leaf(7, priority: "p"),
  ]

  private var random: SplitMix64
  private var count = 0

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func next() -> ([WriteOperation], [LedgerTransfer], isImport: Bool) {
    let operations = (0..<Int.random(in: 0...2, using: &random)).map { _ in operation() }
    let transfers = (0..<Int.random(in: 0...3, using: &random)).map { _ in transfer() }
    return (operations, transfers, Int.random(in: 0..<8, using: &random) == 0)
  }

  private mutating func operation() -> WriteOperation {
    let place = balanceKey(pick(Self.players))
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .remove(place)
    case 1: return .set(place, .increment(pick(Self.amounts)))
    case 2: return .remove(place.parent ?? .root)
    case 3:
      return .set(
        pick(["/users/ann", "/users/bob"] as [Path]), ["level": 4, "inventory": ["pieces_of_eight": pick(Self.balances)]])
    case 4: return .set(place.child(Key(unchecked: "below")), pick(Self.balances))
    case 5: return .set("/users", ["bob": ["inventory": ["pieces_of_eight": pick(Self.balances)]], "eve": 3])
    case 6 where Int.random(in: 0..<4, using: &random) == 0: return .set(.root, pick([.absent, 5]))
    case 7: return .set(place, pick(Self.balances.filter { $0.scalar?.intValue != nil }))
    default: return .set(place, pick(Self.balances))
    }
  }

  private mutating func transfer() -> LedgerTransfer {
    count += 1
    let accounts = Self.players.map { "user:\($0)" } + ["issuance:gift", "shop", "adjustment", "opening"]
    let key = Int.random(in: 0..<20, using: &random) == 0 ? "k1" : "k\(count)"
    let amount = Int.random(in: 0..<4, using: &random) == 0 ? pick(Self.amounts) : Int64.random(in: 1...60, using: &random)
    return .moving(
      amount, from: pick(accounts), to: pick(accounts), key: key, allowsNegative: Bool.random(using: &random))
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }
}
