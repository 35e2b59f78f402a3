package import TreeModel

extension ClientTree {
  /// Writes: listeners see it at once, and it is sent.
  ///
  /// - Parameters:
  ///   - operation: a set, an update or a removal.
  ///   - now: the server's time as it is thought to be, in milliseconds since 1970.
  /// - Returns: the write's number, by which it is answered.
  @discardableResult
  package mutating func write(_ operation: WriteOperation, now: Int64) -> WriteID {
    lastWrite += 1
    let id = WriteID(lastWrite)
    let write = PendingWrite(id: id, operation: operation, isVisible: true, now: now) { assumed($0) }
    // Before listeners are told: what they show outlives the end of the app.
    effects.append(.keep(write))
    pend(write)
    abortTransactions(touching: write.estimates.map(\.path), because: .overridden)
    effects.append(.send(write))
    return id
  }

  /// Puts a write on top of the tree, without sending it.
  mutating func pend(_ write: PendingWrite) {
    writes.append(write)
    if write.isVisible { show(changed: write.estimates.map(\.path)) }
  }

  /// The writes that wait for an answer, in the order of the calls; those of transactions are not among them.
  package var pendingWrites: [PendingWrite] {
    let own = Set(transactions.compactMap(\.write))
    return writes.inOrder.filter { !own.contains($0.id) }
  }

  /// The server answered a write: what it makes of it was sent before.
  ///
  /// - `refusal`: why it was not done; nil if it was.
  package mutating func answer(_ id: WriteID, _ refusal: Refusal?) {
    if withdraw(id) { effects.append(.written(id, refusal)) }
  }

  /// Gives up all writes that are not answered, and all transactions.
  package mutating func purgeWrites() {
    let purged = pendingWrites
    for write in purged { _ = writes.remove(write.id) }
    show(changed: purged.flatMap { $0.estimates.map(\.path) })
    effects += purged.map { .written($0.id, .writeCancelled) }
    for transaction in transactions { end(transaction.id, because: .writeCancelled) }
  }

  /// Takes a write off the tree; false if it is not there.
  @discardableResult
  mutating func withdraw(_ id: WriteID) -> Bool {
    guard let write = writes.remove(id) else { return false }
    if write.isVisible { show(changed: write.estimates.map(\.path)) }
    return true
  }

  /// What is thought to be at a place, all pending writes included, also those that listeners do not see; absent where
  /// nothing is known.
  func assumed(_ path: Path, before end: WriteID? = nil) -> TreeNode {
    writes.assumed(cache.node(at: path) ?? partlyKnown(path), at: path, before: end)
  }

  /// What windows show of a place that no listen knows whole.
  private func partlyKnown(_ path: Path) -> TreeNode {
    for listened in wirePlaces.atOrAbove(path) where listened.path != path {
      if let tag = wires[listened]?.listen.tag, let window = cache.window(tag) {
        let node = window[path.relative(to: listened.path)]
        if node.exists { return node }
      }
    }
    return .absent
  }
}

// What is kept from one run of the app to the next.

extension ClientTree {
  /// What the server has at the listens that are known whole.
  package var serverNodes: [(listened: ListenSpec, node: TreeNode)] {
    wires.values.compactMap { wire in
      let node = wire.listen.tag.map { cache.window($0) } ?? cache.node(at: wire.listen.listened.path)
      return node.map { (wire.listen.listened, $0) }
    }
  }

  /// Takes a window's data from an earlier run for what the server has, until the server says otherwise. Called before the
  /// window is listened to; of a place that is known already it changes nothing.
  package mutating func recall(_ listened: ListenSpec, node: TreeNode) {
    guard serverNode(listened) == nil, !listened.isLocal else { return }
    if listened.isFiltered {
      recalled[listened] = node
    } else {
      cache.set(listened.path, to: node, tag: nil)
      cache.markComplete(listened.path)
      show(changed: [listened.path])
    }
  }
}

extension ClientTree {
  /// The link is lost: shows what the server does now on its side, in place of what it last said.
  package mutating func runDisconnect(_ assignments: [WriteOperation.Assignment], now: Int64) {
    if assignments.isEmpty { return }
    var touched: [Path] = []
    for assignment in assignments {
      let estimate = assignment.estimate(now: now) { cache.node(at: $0) ?? .absent }
      touched.append(estimate.path)
      switch estimate.value {
      case .node(let node): cache.overwrite(estimate.path, to: node)
      case .priority(let priority):
        guard let node = cache.node(at: estimate.path) else { continue }
        cache.overwrite(estimate.path, to: TreeNode(node.content, priority: priority))
      }
    }
    show(changed: touched)
    abortTransactions(touching: touched, because: .overridden)
  }
}
