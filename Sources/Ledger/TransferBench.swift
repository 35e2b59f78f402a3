import RewardModel
import StorageCore
import TreeModel

/// The balances that a request's transfers touch, while they are worked on.
struct TransferBench {
  private struct Balance {
    var value: Int64
    /// Where it stands in the tree; nil if the ledger alone keeps it.
    let path: Path?
    /// The leaf's priority, which stays.
    let priority: Scalar?
  }

  let session: any WriteSession
  let namespace: NamespaceID
  let currencies: CurrencyTable
  private var balances: [Purse: Balance] = [:]
  /// In the order of first use.
  private var order: [Purse] = []

  init(session: any WriteSession, namespace: NamespaceID, currencies: CurrencyTable) {
    self.session = session
    self.namespace = namespace
    self.currencies = currencies
  }

  /// The new balances in the tree.
  var assignments: [WriteOperation.Assignment] {
    order.compactMap { purse in
      guard let balance = balances[purse], let path = balance.path else { return nil }
      let node = TreeNode.leaf(.int(balance.value), priority: balance.priority)
      return WriteOperation.Assignment(path: path, value: .node(WriteNode(node)))
    }
  }

  /// Takes the amount from one balance and adds it to the other.
  mutating func move(_ transfer: LedgerTransfer) throws(CommitRefusal) {
    let debit = Purse(account: transfer.debit, unit: transfer.unit)
    let giving = try balance(of: debit)
    let (after, debitOverflow) = giving.value.subtractingReportingOverflow(transfer.amount)
    let hasFloor = (giving.path != nil || transfer.debit.isHold) && !transfer.allowsNegative
    if hasFloor, debitOverflow || after < 0 {
      throw CommitRefusal(
        .insufficientFunds,
        """
        \(transfer.debit) has \(giving.value) \(transfer.unit); \(transfer.amount) cannot be taken. Ask for less, or credit it \
        first.
        """)
    }
    guard !debitOverflow else { throw .overflow(of: debit) }
    balances[debit]?.value = after

    let credit = Purse(account: transfer.credit, unit: transfer.unit)
    let (sum, creditOverflow) = try balance(of: credit).value.addingReportingOverflow(transfer.amount)
    guard !creditOverflow else { throw .overflow(of: credit) }
    balances[credit]?.value = sum
  }

  private mutating func balance(of purse: Purse) throws(CommitRefusal) -> Balance {
    if let known = balances[purse] { return known }
    let balance: Balance
    if let path = try currencies.path(of: purse) {
      balance = try leaf(at: path)
    } else {
      let value = try refusing { () throws(StorageError) in
        try session.balance(in: namespace, of: purse.account, unit: purse.unit) ?? 0
      }
      balance = Balance(value: value, path: nil, priority: nil)
    }
    balances[purse] = balance
    order.append(purse)
    return balance
  }

  /// The balance at a place. One look: a leaf comes first in its subtree, its priority second.
  private func leaf(at path: Path) throws(CommitRefusal) -> Balance {
    let bytes = PathBytes(path)
    let leaves = try refusing { () throws(StorageError) in try session.leaves(in: namespace, under: bytes, limit: 2) }
    guard let first = leaves.first?.leaf else { return Balance(value: 0, path: path, priority: nil) }
    guard first.path == bytes, let value = first.scalar.intValue else {
      let found = first.path == bytes ? first.scalar.kindName : "an object"
      throw CommitRefusal(
        .balanceType,
        "The balance at \(path) is no integer but \(found). It was left alone; write an integer there and try again.")
    }
    return Balance(value: value, path: path, priority: leaves.count > 1 ? leaves[1].leaf.scalar : nil)
  }
}

extension CommitRefusal {
  /// The refusal of a sum that does not fit.
  static func overflow(of purse: Purse) -> CommitRefusal {
    CommitRefusal(
      .balanceOverflow,
      """
      The balance of \(purse.account) in \(purse.unit) would not fit 64 bits. Nothing was posted; move a part of it elsewhere \
      first.
      """)
  }
}
