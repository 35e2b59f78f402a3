public import RewardModel
public import TreeModel

/// A kind of coin, and where the players' balances stand in the tree.
public struct Currency: Sendable {
  /// Such as `pieces_of_eight`.
  public let unit: String
  /// Such as `users/{uid}/inventory/pieces_of_eight`.
  public let pattern: PathPattern
  /// The kind of account that a balance belongs to: `user` makes `user:bob`.
  public let holder: String
  /// Whether nobody declared it: it is there for games that declare none.
  public let isImplicit: Bool

  /// The currency that needs no declaration.
  public static let piecesOfEight = Currency(
    unit: "pieces_of_eight", pattern: "users/{uid}/inventory/pieces_of_eight", isImplicit: true)

  public init(unit: String, pattern: PathPattern, holder: String = "user", isImplicit: Bool = false) {
    self.unit = unit
    self.pattern = pattern
    self.holder = holder
    self.isImplicit = isImplicit
  }

  /// The unit that is meant where none is named: the game's only one; nil if it has several, or none.
  public static func onlyUnit(of currencies: [Currency]) -> String? {
    let declared = currencies.filter { !$0.isImplicit }
    let units = Set((declared.isEmpty ? currencies : declared).map(\.unit))
    return units.count == 1 ? units.first : nil
  }

  /// The account whose balance stands at `path`; nil if none does.
  public func account(at path: Path) -> LedgerAccount? {
    guard let captures = pattern.match(path) else { return nil }
    return LedgerAccount("\(holder):\(captures.map(\.value).joined(separator: "/"))")
  }

  /// Where the account's balance stands; nil if it is not a holder's account.
  public func path(of account: LedgerAccount) -> Path? {
    guard account.kind.utf8.elementsEqual(holder.utf8) else { return nil }
    let owners = account.ownerParts
    guard owners.count == pattern.captureNames.count else { return nil }
    return try? pattern.path(filling: owners)
  }
}

extension Currency {
  /// What the author of a function can do who pays to a place, or in a unit, that is none of these: how a currency is
  /// declared, and where balances are so far.
  public static func advice(beside declared: [Currency]) -> String {
    let way =
      "Declare the currency beside the functions, functions.currency(\"gems\", at: place), or under \"currencies\" in the "
      + "configuration"
    guard !declared.isEmpty else { return "No currency is declared. \(way)." }
    let known = declared.map { "\($0.unit) at \($0.pattern)" }.joined(separator: ", ")
    return "\(way); there is \(known)."
  }
}
