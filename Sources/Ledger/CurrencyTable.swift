import RewardModel
public import StorageCore
import TreeModel

/// The declared currencies, checked, and arranged for looking up.
///
/// A balance belongs to a *purse*, an account and a unit. Purses whose account is of a currency's holder kind stand in the
/// tree; for them this table is the only way from a place to a purse and back.
public struct CurrencyTable: Sendable {
  /// A currency, with a quick test for its places.
  struct Place: Sendable {
    let currency: Currency
    private let filter: PatternFilter

    init(_ currency: Currency) {
      self.currency = currency
      filter = PatternFilter(currency.pattern)
    }

    /// A cheap test that most changed leaves fail.
    func mayHold(_ path: PathBytes) -> Bool { filter.mayHold(path) }
  }

  /// The currencies in the order they were declared.
  public var currencies: [Currency] { places.map(\.currency) }

  let places: [Place]

  /// Checks the currencies and arranges them.
  ///
  /// - Throws: ``LedgerError`` with ``LedgerError/Code/invalidCurrency`` if places and purses would not be one to one.
  public init(_ currencies: [Currency]) throws(LedgerError) {
    for (index, currency) in currencies.enumerated() {
      try Self.check(currency)
      for other in currencies[..<index] { try Self.check(currency, beside: other) }
    }
    places = currencies.map(Place.init)
  }

  /// The purse whose balance stands at exactly this place; nil if it is no balance's.
  func purse(at path: PathBytes) -> Purse? {
    for place in places where place.mayHold(path) && !path.isPriority {
      guard let readable = path.path, let account = place.currency.account(at: readable) else { continue }
      return Purse(account: account, unit: place.currency.unit)
    }
    return nil
  }

  /// Whether accounts of this kind have their balance in the tree.
  func isHolder(_ account: LedgerAccount) -> Bool {
    places.contains { account.kind.utf8.elementsEqual($0.currency.holder.utf8) }
  }

  /// Where the purse's balance stands in the tree; nil for a purse that the ledger alone keeps.
  ///
  /// - Throws: ``StorageCore/CommitRefusal`` with `invalidTransfer` if the account is a holder's but no place is its own.
  func path(of purse: Purse) throws(CommitRefusal) -> Path? {
    let account = purse.account
    var isHolder = false
    for place in places where account.kind.utf8.elementsEqual(place.currency.holder.utf8) {
      isHolder = true
      guard purse.unit == place.currency.unit else { continue }
      let parts = account.ownerParts
      let pattern = place.currency.pattern
      guard parts.count == pattern.captureNames.count, let path = try? pattern.path(filling: parts) else {
        throw CommitRefusal(
          .invalidTransfer,
          """
          \(account) names no place of \(pattern). After the colon stand legal keys for \(pattern.captureNames), with \
          slashes between.
          """)
      }
      return path
    }
    if isHolder {
      throw CommitRefusal(
        .invalidTransfer,
        "\(account) holds no \(purse.unit): no such currency is declared. \(Currency.advice(beside: currencies))")
    }
    return nil
  }
}
