package import TreeModel

/// The client's idea of the tree: what the server said, what was written here and is not answered yet, and who listens.
///
/// A pure state machine: inputs change it and leave ``SyncEffect``s, which the caller takes and carries out in their order.
/// It knows no clock, no socket and no thread. Nothing that a server or an app says can make it trap.
package struct ClientTree: ~Copyable, Sendable {
  var views: [ListenSpec: ListenView] = [:]
  /// The views by their places: what is listened to elsewhere costs nothing.
  private(set) var viewPlaces = PlaceIndex<ListenSpec>()
  var cache = ServerCache()
  /// The client's own part, below `.info`.
  var local: [Path: TreeNode] = [ClientTree.connectedPath: false]
  private(set) var wires: [ListenSpec: WireState] = [:]
  private(set) var wirePlaces = PlaceIndex<ListenSpec>()
  /// Whole nodes that the server was asked to end a listen for, and has not yet: when, by ``requests``. Data of a whole node has no
  /// tag, so until the answer nobody can tell what is of the ended listen from what is of a new one.
  private var ending: [Path: [Int]] = [:]
  /// How many listens, and ends of them, were sent.
  private var requests = 0
  private var endingPlaces = PlaceIndex<Path>()
  /// Listens to whole nodes that are asked for again, when the ends at their places, above and below have come: with numbers in the
  /// order of the calls.
  private var held: [ListenSpec: Int] = [:]
  private var lastHeld = 0
  /// How many listens were looked at so far, for what was asked and what came: the measure of the work.
  var looks = 0
  var writes = PendingWrites()
  var transactions: [PendingTransaction] = []
  var effects: [SyncEffect] = []
  /// Windows of an earlier run that are about to be listened to.
  var recalled: [ListenSpec: TreeNode] = [:]
  var lastListener: UInt = 0
  var lastWrite = 0
  var lastTransaction = 0
  private var lastTag = 0
  private var specOfListener: [ListenerID: ListenSpec] = [:]

  /// Where the client tells whether it is connected.
  package static let connectedPath = Path(keys: [ListenSpec.infoKey, Key(unchecked: "connected")])
  /// Where the client tells how far the server's clock is ahead of its own, in milliseconds.
  package static let offsetPath = Path(keys: [ListenSpec.infoKey, Key(unchecked: "serverTimeOffset")])

  /// What is known of a listen of the server's.
  struct WireState {
    let listen: WireListen
    /// Whether the hash of known data was sent: an answer without data then means that nothing changed.
    var sentHash = false
    /// Whether data came since it was sent.
    var hasData = false
    /// When it was sent, by ``requests``.
    var sentAt = 0
    /// Whether data came that may be of an earlier listen.
    var isDoubtful = false
  }

  /// A tree of which nothing is known.
  package init() {}

  /// What is to be done since the last call.
  package mutating func takeEffects() -> [SyncEffect] {
    defer { effects.removeAll() }
    return effects
  }

  /// Begins to listen. A window that is known already is shown at once.
  ///
  /// - `kinds`: what the listener wants to be told; of a listener that only keeps data at hand, nothing.
  package mutating func listen(_ listened: ListenSpec, to kinds: Set<TreeEventKind>) -> ListenerID {
    lastListener += 1
    let id = ListenerID(lastListener)
    specOfListener[id] = listened
    let isNew = views[listened] == nil
    var view = views[listened] ?? ListenView(listened)
    view.listeners.append((id, kinds))
    views[listened] = view
    if isNew {
      viewPlaces.insert(listened, at: listened.path)
      if listened.isFiltered, let known = recalled[listened] { view.lastServer = known }
      // The view first: what was known by a listen that ends now is not to be let go.
      view.shown = refresh(&view, changed: [listened.path]).shown
      views[listened] = view
      reviseWires(at: listened.path)
    }
    if let shown = views[listened]?.shown {
      for event in listened.query.events(beginning: shown) where kinds.contains(event.kind) {
        effects.append(.event(id, event))
      }
    }
    return id
  }

  /// Ends a listener; it is told nothing more.
  package mutating func unlisten(_ id: ListenerID) {
    guard let listened = specOfListener.removeValue(forKey: id) else { return }
    views[listened]?.listeners.removeAll { $0.id == id }
    guard let view = views[listened], view.listeners.isEmpty else { return }
    views[listened] = nil
    viewPlaces.remove(listened, at: listened.path)
    reviseWires(at: listened.path)
  }

  /// Whether anybody listens, to the client's own part included.
  package var hasListeners: Bool { !views.isEmpty }

  /// What a listener listens to; nil once it has ended.
  package func listened(of id: ListenerID) -> ListenSpec? { specOfListener[id] }

  /// The window as it stands here, own writes included; nil if it is not known whole.
  package func value(_ listened: ListenSpec) -> TreeNode? {
    let shown = views[listened]?.shown ?? current(listened)
    return shown.isComplete ? shown.node : nil
  }

  /// The window as the server has it, as far as a listen keeps it up to date; nil if it is not known whole.
  package func serverValue(_ listened: ListenSpec) -> TreeNode? { serverNode(listened).map(listened.shown) }

  /// The hash of what is known of a listen of the server's; empty if nothing is. Asked for when the listen is sent.
  package mutating func hash(of listen: WireListen) -> String {
    let known = listen.tag.map { cache.window($0) } ?? cache.node(at: listen.listened.path)
    wires[listen.listened]?.sentHash = known != nil
    wires[listen.listened]?.hasData = false
    requests += 1
    wires[listen.listened]?.sentAt = requests
    wires[listen.listened]?.isDoubtful = false
    return known?.dataHash ?? ""
  }
}

// MARK: What the server says

extension ClientTree {
  /// The server says what changed, at or below places that are listened to: one message, of which each window makes one
  /// change.
  package mutating func receive(_ changes: [(path: Path, node: TreeNode)], tag: Int?) {
    var made: [TreeChange] = []
    var isWindowKnown = tag.map { cache.window($0) != nil } ?? false
    for change in changes {
      guard let listened = listened(change.path, tag: tag) else {
        if tag == nil { made += inherited(change.node, at: change.path) }
        continue
      }
      if change.path.lastKey == ListenSpec.priorityKey, let place = change.path.parent {
        // Of a node that is not known, its priority alone says nothing.
        guard isWindowKnown || tag == nil && cache.isComplete(place) else { continue }
        made.append(TreeChange(path: place, value: .priority(change.node.scalar)))
      } else {
        made.append(TreeChange(path: change.path, value: .node(change.node)))
        if change.path == listened.path {
          if tag == nil { cache.markComplete(change.path) } else { isWindowKnown = true }
        }
      }
      wires[listened]?.hasData = true
      if tag == nil { doubt(listened, at: change.path) }
    }
    cache.apply(made, tag: tag)
    let touched = made.map(\.path)
    show(changed: touched)
    rerunTransactions(touching: touched)
  }

  /// What data says to listens below its place: it is of one above them that is about to end, and as good as their own.
  private mutating func inherited(_ node: TreeNode, at path: Path) -> [TreeChange] {
    wirePlaces.atOrBelow(path).filter { !$0.isFiltered && held[$0] == nil }.map { listened in
      cache.markComplete(listened.path)
      wires[listened]?.hasData = true
      doubt(listened, at: path)
      return TreeChange(path: listened.path, value: .node(node[listened.path.relative(to: path)]))
    }
  }

  /// The server says what changed in ranges of a node that is listened to.
  package mutating func receive(_ ranges: [RangeMerge], at path: Path, tag: Int?) {
    guard var node = tag.flatMap({ cache.raw($0, at: path) }) ?? cache.node(at: path) else { return }
    for range in ranges { node = range.applied(to: node) }
    receive([(path, node)], tag: tag)
  }

  /// The listen under which the server sends data for a place; nil if it no longer should.
  private func listened(_ path: Path, tag: Int?) -> ListenSpec? {
    if let tag { return cache.listened(tag) }
    return wirePlaces.atOrAbove(path).last { !$0.isFiltered && held[$0] == nil }
  }

  /// The server took a listen: what it knows, it has sent before.
  package mutating func accept(_ listen: WireListen) {
    guard let wire = wires[listen.listened], wire.listen == listen, isHeard(wire) else { return }
    let path = listen.listened.path
    if wire.isDoubtful {
      // Asked again, with the hash of what is known, once nothing of an earlier listen can come: then it is right, or the server
      // says what is.
      wires[listen.listened]?.isDoubtful = false
      hold(listen.listened)
      effects.append(.unlisten(listen))
    } else if !wire.hasData, !wire.sentHash {
      // No data: what is known is right, or nothing is there.
      cache.set(path, to: .absent, tag: listen.tag)
    }
    if let tag = listen.tag { cache.markComplete(tag: tag) } else { cache.markComplete(path) }
    show(changed: [path])
    rerunTransactions(touching: [path])
  }

  /// The server does not take a listen, or takes it back: those who listen are told, and end.
  package mutating func refuse(_ listened: ListenSpec, _ refusal: Refusal) {
    guard let wire = wires[listened], isHeard(wire) else { return }
    let ended = viewPlaces.atOrBelow(listened.path).filter { wireSpec(of: $0) == listened }
    for view in ended {
      for listener in views.removeValue(forKey: view)?.listeners ?? [] {
        specOfListener[listener.id] = nil
        effects.append(.cancelled(listener.id, refusal))
      }
      viewPlaces.remove(view, at: view.path)
    }
    reviseWires(at: listened.path)
  }

  /// Says something about the client itself, below `.info`.
  package mutating func setLocal(_ path: Path, to node: TreeNode) {
    local[path] = node
    show(changed: [path])
  }
}

// MARK: Listens of the server's

extension ClientTree {
  /// The listen that keeps a view up to date.
  func wireSpec(of listened: ListenSpec) -> ListenSpec? {
    if listened.isLocal { return nil }
    return (viewPlaces.atOrAbove(listened.path).first { !$0.isFiltered } ?? listened).wire
  }

  /// A view at a place came or went: begins the listens of the server's that are needed there and below, and ends those that are
  /// not.
  private mutating func reviseWires(at path: Path) {
    // A whole node that is listened to above brings all of this, before as now.
    if viewPlaces.atOrAbove(path).contains(where: { !$0.isFiltered && $0.path != path }) { return }
    let needed = viewPlaces.atOrBelow(path) { !$0.isFiltered }.filter { !$0.isLocal }.map(\.wire)
    let present = wirePlaces.atOrBelow(path)
    looks += needed.count + present.count
    let ended = Set(present).subtracting(needed)
    for listened in Set(needed).subtracting(present).sorted(by: { $0.path.depth < $1.path.depth }) { begin(listened) }
    for listened in ended {
      guard let wire = wires.removeValue(forKey: listened) else { continue }
      wirePlaces.remove(listened, at: listened.path)
      if let tag = wire.listen.tag { cache.close(tag) }
      // The server never heard of one that waits.
      if held.removeValue(forKey: listened) == nil { effects.append(.unlisten(wire.listen)) }
    }
    if !ended.isEmpty { cache.keep(at: path, listened: wirePlaces) }
  }

  private mutating func begin(_ listened: ListenSpec) {
    var tag: Int?
    if listened.isFiltered {
      lastTag += 1
      tag = lastTag
      cache.open(
        lastTag, for: listened,
        known: cache.node(at: listened.path).map(listened.query.result) ?? recalled.removeValue(forKey: listened))
    }
    let listen = WireListen(listened: listened, tag: tag)
    wires[listened] = WireState(listen: listen)
    wirePlaces.insert(listened, at: listened.path)
    effects.append(.listen(listen))
  }

  // MARK: Listens that wait for the end of others

  /// Whether listens wait until the server has ended others.
  package var holdsListens: Bool { !held.isEmpty }

  /// The server was asked to end a listen.
  package mutating func unlistenSent(_ listen: WireListen) {
    guard listen.tag == nil else { return }
    let path = listen.listened.path
    requests += 1
    ending[path, default: []].append(requests)
    endingPlaces.insert(path, at: path)
  }

  /// The server has ended a listen: it sends nothing more of it.
  package mutating func ended(_ listen: WireListen) {
    let path = listen.listened.path
    guard listen.tag == nil, let sent = ending[path] else { return }
    ending[path] = sent.count > 1 ? Array(sent.dropFirst()) : nil
    if sent.count == 1 { endingPlaces.remove(path, at: path) }
    beginHeld()
  }

  /// The connection is lost, and with it all that the server was asked for and has not answered.
  package mutating func connectionLost() {
    ending = [:]
    endingPlaces = PlaceIndex()
    beginHeld()
  }

  private func isEnding(near path: Path) -> Bool { !endingPlaces.touching(path).isEmpty }

  /// Data came that may be of an earlier listen than this one.
  private mutating func doubt(_ listened: ListenSpec, at path: Path) {
    guard let sentAt = wires[listened]?.sentAt else { return }
    let isOld = endingPlaces.atOrAbove(path).contains { ending[$0]?.first.map { $0 < sentAt } == true }
    if isOld { wires[listened]?.isDoubtful = true }
  }

  /// Whether what the server answers to a listen, or takes back, is meant for this one and not for an earlier one of the place.
  private func isHeard(_ wire: WireState) -> Bool {
    let listened = wire.listen.listened
    if held[listened] != nil { return false }
    return wire.listen.tag != nil || ending[listened.path]?.first.map { $0 < wire.sentAt } != true
  }

  private mutating func hold(_ listened: ListenSpec) {
    lastHeld += 1
    held[listened] = lastHeld
  }

  private mutating func beginHeld() {
    for (listened, _) in held.sorted(by: { $0.value < $1.value }) where !isEnding(near: listened.path) {
      held[listened] = nil
      if let wire = wires[listened] { effects.append(.listen(wire.listen)) }
    }
  }
}
