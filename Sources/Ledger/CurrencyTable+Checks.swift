import RewardModel
import StorageCore
import TreeModel

extension CurrencyTable {
  /// Kinds of account that the ledger uses itself: their balances have no place in the tree.
  static let ownKinds = [LedgerAccount.holdKind, "issuance", "redemption", "adjustment", "opening"]

  /// Whether the text can name a unit or a kind: 1-64 letters, digits, `_`, `-` or `.`, so that names compare by bytes and
  /// stand in keys and URLs as they are.
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
      throw fault(currency, "its unit and its holder need 1-64 letters, digits, '_', '-' or '.'")
    }
    guard !ownKinds.contains(currency.holder) else {
      throw fault(currency, "accounts of the kind \(currency.holder) are the ledger's own; choose another holder")
    }
    var captures = 0
    for segment in currency.pattern.segments {
      switch segment {
      case .literal: continue
      case .single(.some): captures += 1
      case .single(nil): throw fault(currency, "* does not say whose balance it is; write a capture such as {uid}")
      case .multi: throw fault(currency, "** does not say where the owner's name ends; write one capture for each key")
      }
    }
    guard captures > 0 else { throw fault(currency, "it has no capture, so nobody owns the balance; write one such as {uid}") }
  }

  /// Two currencies may share a unit or a holder, but not both, and never a place.
  static func check(_ currency: Currency, beside other: Currency) throws(LedgerError) {
    guard currency.unit != other.unit || currency.holder != other.holder else {
      throw fault(currency, "a \(currency.holder) has two places for \(currency.unit); remove one")
    }
    let segments = currency.pattern.segments
    guard segments.count == other.pattern.segments.count else { return }
    let canMeet = zip(segments, other.pattern.segments).allSatisfy { a, b in
      guard case .literal(let x) = a, case .literal(let y) = b else { return true }
      return x == y
    }
    if canMeet { throw fault(currency, "a path can match it and \(other.pattern) too; make the places differ") }
  }

  private static func fault(_ currency: Currency, _ what: String) -> LedgerError {
    LedgerError(.invalidCurrency, "Currency \(currency.unit) at \(currency.pattern): \(what).")
  }
}
