public import TreeModel

extension [LeafChange] {
  /// The changes of a commit that are the tree's; those of accounts stand behind them. Costs one look where there are none.
  public var withoutAccounts: [LeafChange] {
    guard let last, last.path.isAccounts else { return self }
    return Array(prefix { !$0.path.isAccounts })
  }
}
