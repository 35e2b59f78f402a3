public import TreeModel

/// A kind of coin that a deployment declares beside its functions.
public struct CurrencyDeclaration: Sendable {
  /// Such as `gems`.
  public let unit: String
  /// Where the balances stand.
  public let pattern: PathPattern
  /// The kind of account that a balance belongs to: `user` makes `user:bob`.
  public let holder: String
}

extension Functions {
  /// Declares a currency: what stands at `place` is a balance. Functions credit it, and any other change of it is entered in
  /// the ledger too, as an adjustment by whoever wrote.
  ///
  /// ```swift
  /// functions.currency("gems", at: TreePath<Int64, UserID>("/pirates/{uid}/gems"))
  /// ```
  /// `pieces_of_eight` below `/users/{uid}/inventory` needs no declaration. The currencies of a configuration file come beside
  /// these; declare each of them before it has balances.
  /// - Parameters:
  ///   - unit: the coin's name in the ledger.
  ///   - holder: the kind of account that balances belong to: `user` makes `user:bob`.
  public func currency<each P>(_ unit: String, at place: TreePath<Int64, repeat each P>, holder: String = "user") {
    declare(unit, at: place.place, holder: holder)
  }
}
