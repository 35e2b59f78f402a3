package import TreeModel

extension ClientTree {
  /// How often a transaction may run.
  package static let transactionRunsMax = 25

  /// Begins a transaction: an effect asks for its function to be run, again and again until the server takes the result.
  ///
  /// - `showsGuesses`: whether listeners see what it wants to write before the server answers.
  package mutating func beginTransaction(_ path: Path, showsGuesses: Bool) -> TransactionID {
    lastTransaction += 1
    let id = TransactionID(lastTransaction)
    let listener = listen(ListenSpec(path: path), to: [])
    transactions.append(PendingTransaction(id: id, path: path, isVisible: showsGuesses, listener: listener))
    run(id)
    return id
  }

  /// A transaction's function has run.
  ///
  /// - `output`: what it wants to write; nil if it does not want to.
  package mutating func transactionRan(_ id: TransactionID, output: TreeNode?, now: Int64) {
    guard let index = index(id), transactions[index].state == .toRun else { return }
    guard let output else { return finish(id, with: .aborted(transactions[index].input)) }
    transactions[index].output = output
    transactions[index].state = .toSend
    lastWrite += 1
    let write = WriteID(lastWrite)
    transactions[index].write = write
    let (path, isVisible) = (transactions[index].path, transactions[index].isVisible)
    pend(PendingWrite(id: write, operation: .set(path, output), isVisible: isVisible, now: now) { assumed($0) })
    sendTransactions()
  }

  /// What a transaction wants to write has left for the server: from now on only an answer, or the loss of the connection, ends it.
  package mutating func transactionSent(_ id: TransactionID) {
    if let index = index(id), transactions[index].state == .queued { transactions[index].state = .sent }
  }

  /// The server answered a transaction.
  package mutating func answerTransaction(_ id: TransactionID, _ refusal: Refusal?) {
    guard let index = index(id) else { return }
    let transaction = transactions[index]
    guard let refusal else { return finish(id, with: .committed(transaction.output)) }
    if refusal.status == "datastale" {
      if case .sentAndAborted(let reason) = transaction.state { return end(id, because: reason) }
      restart(from: index)
    } else {
      end(id, because: refusal)
    }
  }

  private func index(_ id: TransactionID) -> Int? { transactions.firstIndex { $0.id == id } }

  private mutating func run(_ id: TransactionID) {
    guard let index = index(id) else { return }
    if transactions[index].runs == Self.transactionRunsMax { return end(id, because: .maxRetries) }
    transactions[index].runs += 1
    transactions[index].state = .toRun
    effects.append(.run(id))
  }

  /// What a transaction's function is to look at, now that it runs; nil if it need not run any more.
  package mutating func transactionInput(_ id: TransactionID) -> TreeNode? {
    guard let index = index(id), transactions[index].state == .toRun else { return nil }
    let input = assumed(transactions[index].path)
    transactions[index].input = input
    return input
  }

  /// Runs a transaction again, and all later ones that saw what it wanted to write.
  private mutating func restart(from first: Int) {
    let path = transactions[first].path
    let again = transactions[first...].filter { $0.id == transactions[first].id || ($0.touches(path) && $0.state == .toSend) }
    for transaction in again {
      if let index = index(transaction.id), let write = transaction.write {
        transactions[index].write = nil
        withdraw(write)
      }
    }
    for transaction in again where index(transaction.id) != nil { run(transaction.id) }
    sendTransactions()
  }

  /// Something changed: transactions that are not sent yet saw an old value.
  mutating func rerunTransactions(touching paths: [Path]) {
    let stale = transactions.first { transaction in
      transaction.state == .toSend && paths.contains(where: transaction.touches)
        && assumed(transaction.path, before: transaction.write) != transaction.input
    }
    if let stale, let index = index(stale.id) { restart(from: index) }
  }

  /// A write came over these places.
  mutating func abortTransactions(touching paths: [Path], because refusal: Refusal) {
    for transaction in transactions where paths.contains(where: transaction.touches) {
      if case .sent = transaction.state, let index = index(transaction.id) {
        transactions[index].state = .sentAndAborted(refusal)
      } else if !transaction.state.isSent {
        end(transaction.id, because: refusal)
      }
    }
  }

  /// Sends what no earlier transaction stands in the way of.
  private mutating func sendTransactions() {
    var before: [PendingTransaction] = []
    for transaction in transactions {
      if transaction.state == .toSend, !before.contains(where: { $0.touches(transaction.path) }),
        let index = index(transaction.id)
      {
        transactions[index].state = .queued
        effects.append(
          .sendTransaction(
            transaction.id, path: transaction.path, node: transaction.output, hash: transaction.input.dataHash))
      }
      before.append(transaction)
    }
  }

  /// Ends a transaction that is not done.
  mutating func end(_ id: TransactionID, because refusal: Refusal) {
    guard let index = index(id) else { return }
    finish(id, with: .failed(refusal, transactions[index].input))
  }

  private mutating func finish(_ id: TransactionID, with result: TransactionResult) {
    guard let index = index(id) else { return }
    let transaction = transactions.remove(at: index)
    if let write = transaction.write { withdraw(write) }
    effects.append(.finished(id, result))
    unlisten(transaction.listener)
    // Later ones saw what it wanted to write; of one that was taken, they saw right.
    rerunTransactions(touching: [transaction.path])
    sendTransactions()
  }
}

extension PendingTransaction.State {
  var isSent: Bool {
    switch self {
    case .sent, .sentAndAborted: true
    case .toRun, .toSend, .queued: false
    }
  }
}

/// A transaction that is not over.
struct PendingTransaction {
  enum State: Equatable {
    /// Its function is to run.
    case toRun
    /// It ran; what it wants to write waits for earlier transactions.
    case toSend
    /// It is handed over to be sent, which without a connection may take a while.
    case queued
    /// It is on its way to the server, and cannot be withdrawn.
    case sent
    /// It is sent, and something came over it meanwhile: unless the server took it, it ends.
    case sentAndAborted(Refusal)
  }

  let id: TransactionID
  let path: Path
  let isVisible: Bool
  /// The listener that keeps its place up to date.
  let listener: ListenerID
  var state = State.toRun
  var runs = 0
  /// What its function saw.
  var input = TreeNode.absent
  /// What it wants to write.
  var output = TreeNode.absent
  /// Its write in the tree.
  var write: WriteID?

  func touches(_ other: Path) -> Bool { path.contains(other) || other.contains(path) }
}
