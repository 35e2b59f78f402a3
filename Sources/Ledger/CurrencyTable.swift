import RewardModel
package import StorageCore
import TreeModel

/// The declared currencies, checked, and arranged for looking up.
///
/// A balance belongs to an account and a unit. Those whose account is of a currency's holder kind are kept in the
/// tree; for them this table is the only way from a path to account and unit, and back.
package struct CurrencyTable: Sendable {
  /// A currency, with a quick test for its paths.
  struct BalancePath: Sendable {
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
  package var currencies: [Currency] { balancePaths.map(\.currency) }

  let balancePaths: [BalancePath]

  /// Checks the currencies and arranges them.
  ///
  /// - Throws: ``LedgerError`` with ``LedgerError/Code/invalidCurrency`` if paths and balances would not be one to one.
  package init(_ currencies: [Currency]) throws(LedgerError) {
    for (index, currency) in currencies.enumerated() {
      try Self.check(currency)
      for other in currencies[..<index] { try Self.check(currency, beside: other) }
    }
    balancePaths = currencies.map(BalancePath.init)
  }

  /// The account and unit whose balance is at exactly this path; nil if none is.
  func balanceKey(at path: PathBytes) -> PlayerBalanceKey? {
    for balancePath in balancePaths where balancePath.mayHold(path) && !path.isPriority {
      guard let readable = path.path, let account = balancePath.currency.account(at: readable) else { continue }
      return PlayerBalanceKey(account: account, unit: balancePath.currency.unit)
    }
    return nil
  }

  /// Whether accounts of this kind have their balance in the tree.
  func isHolder(_ account: LedgerAccount) -> Bool {
    balancePaths.contains { account.kind.utf8.elementsEqual($0.currency.holder.utf8) }
  }

  /// Where the balance is in the tree; nil for one that the ledger alone keeps.
  ///
  /// - Throws: ``StorageCore/CommitError`` with `invalidTransfer` if the account is a holder's but no path is its own.
  func path(of balanceKey: PlayerBalanceKey) throws(CommitError) -> Path? {
    let account = balanceKey.account
    var isHolder = false
    for balancePath in balancePaths where account.kind.utf8.elementsEqual(balancePath.currency.holder.utf8) {
      isHolder = true
      guard balanceKey.unit == balancePath.currency.unit else { continue }
      let parts = account.ownerParts
      let pattern = balancePath.currency.pattern
      guard parts.count == pattern.captureNames.count, let path = try? pattern.path(filling: parts) else {
        throw CommitError(
          .invalidTransfer,
          """
          \(account) names no place of \(pattern). After the colon stand legal keys for \(pattern.captureNames), with \
          slashes between.
          """)
      }
      return path
    }
    if isHolder {
      throw CommitError(
        .invalidTransfer,
        "\(account) holds no \(balanceKey.unit): no such currency is declared. \(Currency.advice(beside: currencies))")
    }
    return nil
  }

  /// The same, for who asks the ledger.
  func place(of balanceKey: PlayerBalanceKey) throws(LedgerError) -> Path? {
    do {
      return try path(of: balanceKey)
    } catch {
      throw LedgerError(error)
    }
  }
}

extension CurrencyTable {
  /// Kinds of account that the ledger uses itself: their balances have no path in the tree.
  static let ownKinds = [LedgerAccount.holdKind, "issuance", "redemption", "adjustment", "opening"]

  /// Whether the text can name a unit or a kind: 1-64 letters, digits, `_`, `-` or `.`, so that names compare by bytes and
  /// appear in keys and URLs as they are.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  static func check(_ currency: Currency) throws(LedgerError) {
    guard isName(currency.unit), isName(currency.holder) else {
      throw invalidCurrency(currency, what: "its unit and its holder need 1-64 letters, digits, '_', '-' or '.'")
    }
    guard !ownKinds.contains(currency.holder) else {
      throw invalidCurrency(
        currency, what: "accounts of the kind \(currency.holder) are the ledger's own; choose another holder")
    }
    var captures = 0
    for segment in currency.pattern.segments {
      switch segment {
      case .literal: continue
      case .single(.some): captures += 1
      case .single(nil):
        throw invalidCurrency(currency, what: "* does not say whose balance it is; write a capture such as {uid}")
      case .multi:
        throw invalidCurrency(currency, what: "** does not say where the owner's name ends; write one capture for each key")
      }
    }
    guard captures > 0 else {
      throw invalidCurrency(currency, what: "it has no capture, so nobody owns the balance; write one such as {uid}")
    }
  }

  /// Two currencies may share a unit or a holder, but not both, and never a path.
  static func check(_ currency: Currency, beside other: Currency) throws(LedgerError) {
    guard currency.unit != other.unit || currency.holder != other.holder else {
      throw invalidCurrency(currency, what: "a \(currency.holder) has two places for \(currency.unit); remove one")
    }
    let segments = currency.pattern.segments
    guard segments.count == other.pattern.segments.count else { return }
    let canMeet = zip(segments, other.pattern.segments).allSatisfy { a, b in
      guard case .literal(let x) = a, case .literal(let y) = b else { return true }
      return x == y
    }
    if canMeet { throw invalidCurrency(currency, what: "a path can match it and \(other.pattern) too; make the places differ") }
  }

  private static func invalidCurrency(_ currency: Currency, what: String) -> LedgerError {
    LedgerError(.invalidCurrency, "Currency \(currency.unit) at \(currency.pattern): \(what).")
  }
}

extension Scalar {
  /// What kind of value it is, for people; not the value, which is a player's.
  var kindName: String {
    switch self {
    case .bool: "a boolean"
    case .int: "an integer"
    case .double: "a number that is no 64-bit integer"
    case .string: "a string"
    }
  }
}

/// A cheap test that most changed leaves fail, so that they need not be taken apart: what a path begins and ends with at every
/// path of a pattern.
struct PatternFilter: Sendable {
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  init(_ pattern: PathPattern) {
    let literals = pattern.segments.map { segment -> [UInt8]? in
      if case .literal(let key) = segment { PathBytes.root.child(key).bytes } else { nil }
    }
    prefix = literals.prefix { $0 != nil }.flatMap { $0 ?? [] }
    suffix = literals.reversed().prefix { $0 != nil }.reversed().flatMap { $0 ?? [] }
  }

  /// Whether a path may be one of the pattern's.
  func mayHold(_ path: PathBytes) -> Bool {
    guard path.bytes.count >= prefix.count + suffix.count else { return false }
    return path.bytes.withUnsafeBytes { bytes in
      let tail = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - suffix.count)...])
      return suffix.withUnsafeBytes(tail.isSame(as:)) && prefix.withUnsafeBytes(bytes.begins(with:))
    }
  }
}
