import RewardModel
import StorageCore
import TreeModel

/// The balances that a request's transfers touch, while they are worked on.
struct TransferTransaction {
  private struct Balance {
    let balanceKey: PlayerBalanceKey
    var value: Int64
    /// Where it is in the tree; nil if the ledger alone keeps it.
    let path: Path?
    /// The leaf's priority, which stays.
    let priority: Scalar?
  }

  let session: any CommitSession
  let namespace: NamespaceID
  let currencies: CurrencyTable
  /// In the order of first use.
  private var balances: [Balance] = []
  private var positions: [PlayerBalanceKey: Int] = [:]

  init(session: any CommitSession, namespace: NamespaceID, currencies: CurrencyTable) {
    self.session = session
    self.namespace = namespace
    self.currencies = currencies
  }

  /// The new balances in the tree.
  var assignments: [WriteOperation.Assignment] {
    balances.compactMap { balance in
      guard let path = balance.path else { return nil }
      let node = TreeNode.leaf(.int(balance.value), priority: balance.priority)
      return WriteOperation.Assignment(path: path, value: .node(WriteNode(node)))
    }
  }

  /// Takes the amount from one balance and adds it to the other.
  mutating func move(_ transfer: LedgerTransfer) throws(CommitError) {
    let debited = try position(of: PlayerBalanceKey(account: transfer.debit, unit: transfer.unit))
    let (after, debitOverflow) = balances[debited].value.subtractingReportingOverflow(transfer.amount)
    let hasFloor = (balances[debited].path != nil || transfer.debit.isHold) && !transfer.allowsNegative
    if hasFloor, debitOverflow || after < 0 {
      throw CommitError(
        .insufficientFunds,
        """
        \(transfer.debit) has \(balances[debited].value) \(transfer.unit); \(transfer.amount) cannot be taken. Ask for less, \
        or credit it first.
        """)
    }
    guard !debitOverflow else { throw .overflow(of: balances[debited].balanceKey) }
    balances[debited].value = after

    let credited = try position(of: PlayerBalanceKey(account: transfer.credit, unit: transfer.unit))
    let (sum, creditOverflow) = balances[credited].value.addingReportingOverflow(transfer.amount)
    guard !creditOverflow else { throw .overflow(of: balances[credited].balanceKey) }
    balances[credited].value = sum
  }

  /// The index of a balance in ``balances``; read from the store at its first use.
  private mutating func position(of balanceKey: PlayerBalanceKey) throws(CommitError) -> Int {
    if let known = positions[balanceKey] { return known }
    let balance: Balance
    if let path = try currencies.path(of: balanceKey) {
      balance = try leaf(of: balanceKey, at: path)
    } else {
      let value = try refusing { () throws(StorageError) in
        try session.balance(in: namespace, of: balanceKey.account, unit: balanceKey.unit) ?? 0
      }
      balance = Balance(balanceKey: balanceKey, value: value, path: nil, priority: nil)
    }
    positions[balanceKey] = balances.count
    balances.append(balance)
    return balances.count - 1
  }

  /// The balance at a path. One look: a leaf comes first in its subtree, its priority second.
  private func leaf(of balanceKey: PlayerBalanceKey, at path: Path) throws(CommitError) -> Balance {
    let bytes = PathBytes(path)
    let leaves = try refusing { () throws(StorageError) in try session.leaves(in: namespace, under: bytes, limit: 2) }
    guard let first = leaves.first?.leaf else { return Balance(balanceKey: balanceKey, value: 0, path: path, priority: nil) }
    guard first.path == bytes, let value = first.scalar.intValue else {
      let found = first.path == bytes ? first.scalar.kindName : "an object"
      throw CommitError(
        .balanceType,
        "The balance at \(path) is no integer but \(found). It was left alone; write an integer there and try again.")
    }
    return Balance(
      balanceKey: balanceKey, value: value, path: path, priority: leaves.count > 1 ? leaves[1].leaf.scalar : nil)
  }
}

extension CommitError {
  /// The refusal of a sum that does not fit.
  static func overflow(of balanceKey: PlayerBalanceKey) -> CommitError {
    CommitError(
      .balanceOverflow,
      """
      The balance of \(balanceKey.account) in \(balanceKey.unit) would not fit 64 bits. Nothing was posted; move a part of it elsewhere \
      first.
      """)
  }
}

/// One account's coins of one unit: what has a balance.
struct PlayerBalanceKey: Hashable {
  let account: LedgerAccount
  let unit: String
}
