import RewardModel
package import StorageCore
package import TreeModel

/// Two accounts of one player that are to be one: a credential led to another uid than the one that the player played with.
package struct MergeOrder: Sendable {
  /// The account that the player leaves.
  package let from: Key
  /// The account that the player goes on with.
  package let into: Key
  package let actor: Actor
  package let reason: String
  /// Whether the coins go along.
  package let movesBalances: Bool
  /// Whether what the other record does not have is copied.
  package let copiesRecord: Bool

  package init(from: Key, into: Key, actor: Actor, reason: String, movesBalances: Bool = false, copiesRecord: Bool = false) {
    self.from = from
    self.into = into
    self.actor = actor
    self.reason = reason
    self.movesBalances = movesBalances
    self.copiesRecord = copiesRecord
  }
}

/// What a merge moved, or would move.
package struct MergeReport: Sendable {
  /// Coins of one currency that were moved; a debt is below zero.
  package struct MovedBalance: Sendable, Hashable {
    package let unit: String
    package let amount: Int64
  }

  /// The account that the player left.
  package let from: String
  /// The account that the player goes on with.
  package let into: String
  /// Who invited the player; moved.
  package let referrer: String?
  package let balances: [MovedBalance]
  /// Paths of the other record that were filled in.
  package let copied: [Path]
  /// Where a reward waits now that waited for the referrer.
  package let heldReward: Path?
  /// Business keys of rewards that were paid for the one and are not paid for the other.
  package let spentKeys: [String]
  package let movesBalances: Bool
  package let copiesRecord: Bool
  package let actor: Actor
  package let reason: String
  /// When it was done, in milliseconds since 1970; nil in a preview.
  package let time: Int64?

  init(_ plan: MergePlan, at time: Int64?) {
    let order = plan.order
    from = order.from.text
    into = order.into.text
    referrer = plan.referrer
    balances = plan.moved
    copied = plan.copied
    heldReward = plan.heldReward
    spentKeys = plan.spentKeys.map(\.text)
    movesBalances = order.movesBalances
    copiesRecord = order.copiesRecord
    actor = order.actor
    reason = order.reason
    self.time = time
  }
}

/// Merges are kept as records beside the tree, so that one that is ordered twice is carried out once. Their form is the
/// store's: it stays as it is, whatever the surfaces show.
extension MergeReport {
  /// Of which kind the records are; their keys are the accounts that were left.
  static let kind = "merge"

  /// The change that stores it, if there is no other merge of the same account.
  var change: KeyedRecordChange {
    KeyedRecordChange(kind: Self.kind, key: from, value: stored, expecting: .absent)
  }

  private var stored: String {
    var writer = JSONWriter()
    writer.write(
      JSON(fields: [
        ("from", .string(from)), ("into", .string(into)), ("referrer", referrer.map(JSON.string)),
        ("balances", .array(balances.map { ["unit": .string($0.unit), "amount": .int($0.amount)] })),
        ("copied", .array(copied.map { .string($0.description) })),
        ("held", heldReward.map { JSON.string($0.description) }),
        ("spent", .array(spentKeys.map(JSON.string))), ("movesBalances", .bool(movesBalances)),
        ("copiesRecord", .bool(copiesRecord)), ("by", .string(actor.description)), ("reason", .string(reason)),
        ("at", time.map(JSON.int)),
      ]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Reads what was stored; nil if it is damaged.
  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let from = json["from"]?.string, let into = json["into"]?.string,
      let actor = json["by"]?.string.flatMap({ Actor($0) })
    else { return nil }
    self.from = from
    self.into = into
    self.actor = actor
    referrer = json["referrer"]?.string
    balances = (json["balances"]?.array ?? []).compactMap { balance in
      guard let unit = balance["unit"]?.string, let amount = balance["amount"]?.int else { return nil }
      return MovedBalance(unit: unit, amount: amount)
    }
    copied = (json["copied"]?.array ?? []).compactMap { $0.string.flatMap { try? Path(parsingInternal: $0) } }
    heldReward = json["held"]?.string.flatMap { try? Path(parsingInternal: $0) }
    spentKeys = (json["spent"]?.array ?? []).compactMap(\.string)
    movesBalances = json["movesBalances"]?.bool ?? false
    copiesRecord = json["copiesRecord"]?.bool ?? false
    reason = json["reason"]?.string ?? ""
    time = json["at"]?.int
  }
}
