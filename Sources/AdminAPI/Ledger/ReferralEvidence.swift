import Links
import RewardModel
import TreeModel

/// What a reward for an invitation rests on, beside the entry that paid it.
enum ReferralEvidence {
  /// An entry as JSON; one that a function made for a player whom somebody invited has `referral`: the link, the click or
  /// the code, and when.
  static func entry(_ entry: LedgerEntry, links: LinkBook?) -> JSON {
    let json = JSON(entry)
    guard let links, let player = player(entry), let claim = try? links.claim(of: player) else { return json }
    return .object((json.object ?? []) + [JSON.Member(key: "referral", value: claim.json)])
  }

  /// The player who was invited: whom the entry is about, else who got the coins.
  private static func player(_ entry: LedgerEntry) -> String? {
    guard entry.transfer.function != nil else { return nil }
    if let subject = entry.transfer.subject { return subject }
    let name = entry.transfer.credit.name
    return name.hasPrefix("user:") ? String(name.dropFirst(5)) : name
  }
}
