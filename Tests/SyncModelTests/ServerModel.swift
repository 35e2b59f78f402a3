import SyncModel
import TestSupport
import TreeModel

/// A server in its simplest form: a tree, and for each client two pipes in which messages keep their order.
struct ServerModel {
  enum ToServer {
    case listen(WireListen, hash: String)
    case unlisten(WireListen)
    case write(PendingWrite)
    case transaction(TransactionID, Path, TreeNode, String)
  }

  enum ToClient {
    case data([(path: Path, node: TreeNode)], tag: Int?)
    case listening(WireListen)
    case ended(WireListen)
    case written(WriteID, Refusal?)
    case transacted(TransactionID, Refusal?)
  }

  struct Pipes {
    var up: [ToServer] = []
    var down: [ToClient] = []
    /// Answers that are not on their way yet.
    var answers: [ToClient] = []
    var listens: [WireListen] = []
  }

  var tree = TreeNode.absent
  var pipes: [Pipes]
  var now: Int64 = 1_700_000_000_000
  /// Whether answers leave with the data before them; else data overtakes them, as it does where answers wait for the disk.
  var answersAtOnce = true
  /// Writes at this place are refused.
  let forbidden = Path(keys: [Key(unchecked: "forbidden")])

  init(clients: Int) { pipes = Array(repeating: Pipes(), count: clients) }

  /// Handles the oldest message of a client.
  mutating func handle(_ client: Int) {
    guard !pipes[client].up.isEmpty else { return }
    defer { if answersAtOnce { answer(client) } }
    now += 7
    switch pipes[client].up.removeFirst() {
    case .listen(let listen, let hash):
      pipes[client].listens.append(listen)
      let known = window(listen, of: tree)
      if hash.isEmpty ? known.exists : !known.matches(dataHash: hash) {
        pipes[client].down.append(.data([(listen.listened.path, known)], tag: listen.tag))
      }
      pipes[client].answers.append(.listening(listen))
    case .unlisten(let listen):
      pipes[client].listens.removeAll { $0 == listen }
      pipes[client].answers.append(.ended(listen))
    case .write(let write):
      let places = write.operation.assignments.map(\.path)
      let isRefused = places.contains { forbidden.contains($0) }
      if !isRefused { commit(write.operation) }
      pipes[client].answers.append(.written(write.id, isRefused ? .permissionDenied : nil))
    case .transaction(let id, let path, let node, let hash):
      let isStale = !tree[path].matches(dataHash: hash)
      if !isStale { commit(.set(path, node)) }
      pipes[client].answers.append(.transacted(id, isStale ? Refusal(status: "datastale") : nil))
    }
  }

  /// Sends the answers that wait for a client.
  mutating func answer(_ client: Int) {
    pipes[client].down += pipes[client].answers
    pipes[client].answers = []
  }

  private func window(_ listen: WireListen, of tree: TreeNode) -> TreeNode {
    let node = tree[listen.listened.path]
    return listen.listened.isFiltered ? listen.listened.query.result(of: node) : node
  }

  private mutating func commit(_ operation: WriteOperation) {
    let before = tree
    for assignment in operation.assignments {
      guard case .node(let write) = assignment.value else { continue }
      let node = write.resolved(now: now) { slot in
        let old = before[assignment.path.appending(slot.path)]
        return slot.isPriority ? old.priority : old.scalar
      }
      tree = tree.setting(assignment.path, to: node)
    }
    for client in pipes.indices {
      for listen in pipes[client].listens {
        let (old, new) = (window(listen, of: before), window(listen, of: tree))
        if old == new { continue }
        pipes[client].down.append(.data(changes(listen.listened.path, old, new), tag: listen.tag))
      }
    }
  }

  /// What turns one node into the other: its children that differ, or all of it.
  private func changes(_ path: Path, _ old: TreeNode, _ new: TreeNode) -> [(path: Path, node: TreeNode)] {
    guard old.children.count > 0, new.children.count > 0, old.priority == new.priority else { return [(path, new)] }
    let keys = Set(old.children.map(\.key)).union(new.children.map(\.key))
    return keys.filter { old[$0] != new[$0] }.sorted().map { (path.child($0), new[$0]) }
  }
}

/// A client with a listener's picture of each window, made of nothing but events.
struct ClientModel: ~Copyable {
  var tree = ClientTree()
  var pictures: [ListenerID: Picture] = [:]
  var results: [TransactionID: SyncModel.TransactionResult] = [:]
  /// What transactions add.
  var steps: [TransactionID: Int64] = [:]
  var problems: [String] = []

  struct Picture {
    let listened: ListenSpec
    var children: [TreeMap.Entry] = []
    var value: TreeNode?
  }

  /// Carries out what the tree wants.
  mutating func pump(_ server: inout ServerModel, as client: Int) {
    var effects = tree.takeEffects()
    while !effects.isEmpty {
      for effect in effects {
        switch effect {
        case .listen(let listen): server.pipes[client].up.append(.listen(listen, hash: tree.listenSent(listen)))
        case .unlisten(let listen):
          server.pipes[client].up.append(.unlisten(listen))
          tree.unlistenSent(listen)
        case .send(let write): server.pipes[client].up.append(.write(write))
        case .sendTransaction(let id, let path, let node, let hash):
          server.pipes[client].up.append(.transaction(id, path, node, hash))
          tree.transactionSent(id)
        case .run(let id):
          guard let input = tree.transactionInput(id) else { continue }
          let sum = (input.scalar?.intValue ?? 0) + (steps[id] ?? 0)
          tree.transactionRan(id, output: .leaf(.int(sum)), now: server.now)
        case .finished(let id, let result): results[id] = result
        case .event(let id, let event): show(event, to: id)
        case .keep, .cancelled, .written: break
        }
      }
      effects = tree.takeEffects()
    }
  }

  mutating func receive(_ message: ServerModel.ToClient) {
    switch message {
    case .data(let changes, let tag): tree.receive(changes, tag: tag)
    case .listening(let listen): tree.accept(listen)
    case .ended(let listen): tree.ended(listen)
    case .written(let id, let refusal): tree.answer(id, refusal)
    case .transacted(let id, let refusal): tree.answerTransaction(id, refusal)
    }
  }

  mutating func show(_ event: TreeEvent, to id: ListenerID) {
    guard var picture = pictures[id] else { return }
    if let key = event.key {
      let at = picture.children.firstIndex { $0.key == key }
      switch event.kind {
      case .added where at != nil: problems.append("\(key) was added twice")
      case .removed where at == nil, .changed where at == nil, .moved where at == nil: problems.append("\(key) is not there")
      default: break
      }
      if let at { picture.children.remove(at: at) }
      if event.kind != .removed {
        let previous = event.previous.map { name in picture.children.firstIndex { $0.key == name } }
        if case .some(.none) = previous { problems.append("the child before \(key) is not there") }
        let place = previous.map { ($0 ?? -1) + 1 } ?? 0
        picture.children.insert(TreeMap.Entry(key: key, node: event.node), at: place)
      }
    } else {
      if picture.value == event.node { problems.append("a value came twice") }
      picture.value = event.node
    }
    pictures[id] = picture
  }
}
