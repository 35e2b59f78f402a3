import AdminModel
import StorageCore
import Synchronization
import TreeModel

/// What stands at a path as one JSON document, made in pieces: each reads some leaves as of the same revision.
final class ExportDocument: Sendable {
  /// Leaves, and bytes of them, that are read for a piece.
  private static let piece = (leaves: 4000, bytes: 512 << 10)

  private struct State {
    /// What was read up to; nil where all is written.
    var lower: PathBytes?
    var writer: LeafWriter
    /// A piece that was made before it was asked for.
    var ready: [UInt8]?
  }

  private let engine: any StorageEngine
  private let namespace: NamespaceID
  private let revision: Revision
  private let upper: PathBytes
  private let state: Mutex<State>

  init(of path: Path, in namespace: NamespaceID, asOf revision: Revision, engine: any StorageEngine) {
    self.engine = engine
    self.namespace = namespace
    self.revision = revision
    let base = PathBytes(path)
    upper = base.subtreeEnd ?? .afterAll
    state = Mutex(State(lower: base, writer: LeafWriter(base: base)))
  }

  /// Makes the first piece: what cannot be read is refused before anything is answered.
  func begin() throws {
    let first = try next()
    state.withLock { $0.ready = first }
  }

  /// The next piece of the document; nil behind its end.
  func next() throws -> [UInt8]? {
    try state.withLock { state in
      if let ready = state.ready.take() { return ready }
      guard let lower = state.lower else { return nil }
      let stretch = try engine.read { (snapshot) throws(StorageError) in
        try snapshot.leaves(
          in: namespace, from: lower, to: upper, asOf: revision, limit: Self.piece.leaves, bytesMax: Self.piece.bytes)
      }
      for stored in stretch.leaves { try state.writer.add(stored.leaf) }
      state.lower = stretch.end < upper ? stretch.end : nil
      if state.lower == nil { state.writer.finish() }
      return state.writer.take()
    }
  }
}

/// Writes leaves, which come in path order, as one nested JSON value with priorities.
struct LeafWriter {
  private let base: PathBytes
  private var json = JSONWriter(capacity: 1 << 16)
  /// The keys of the objects that are open, below the outermost.
  private var open: [Key] = []
  private var isOpen = false
  /// A value whose priority may follow.
  private var held: Leaf?
  private var isEmpty = true

  init(base: PathBytes) {
    self.base = base
  }

  /// Writes a leaf, or a priority.
  mutating func add(_ leaf: Leaf) throws(StorageError) {
    isEmpty = false
    guard leaf.path.isPriority else {
      try release(priority: nil)
      held = leaf
      return
    }
    let node = leaf.path.node
    if held?.path == node { return try release(priority: leaf.scalar) }
    try release(priority: nil)
    enter(try keys(of: node))
    json.key(".priority")
    json.scalar(leaf.scalar)
  }

  /// Ends the document: null where nothing was.
  mutating func finish() {
    // What is held was read already as a path.
    try? release(priority: nil)
    if isEmpty { json.null() }
    while !open.isEmpty { leave() }
    if isOpen { json.endObject() }
  }

  /// What was written since the last call.
  mutating func take() -> [UInt8] {
    let bytes = json.bytes
    json.bytes.removeAll(keepingCapacity: true)
    return bytes
  }

  /// Writes the value that is held.
  private mutating func release(priority: Scalar?) throws(StorageError) {
    guard let leaf = held else { return }
    held = nil
    var keys = try keys(of: leaf.path)
    if let key = keys.popLast() {
      enter(keys)
      json.key(key.text)
    }
    guard let priority else { return json.scalar(leaf.scalar) }
    json.beginObject()
    json.key(".value")
    json.scalar(leaf.scalar)
    json.key(".priority")
    json.scalar(priority)
    json.endObject()
  }

  /// Closes and opens objects until the innermost is the one with these keys.
  private mutating func enter(_ keys: [Key]) {
    if !isOpen { json.beginObject() }
    isOpen = true
    let common = zip(open, keys).prefix { $0 == $1 }.count
    while open.count > common { leave() }
    for key in keys[common...] {
      json.key(key.text)
      json.beginObject()
      open.append(key)
    }
  }

  private mutating func leave() {
    open.removeLast()
    json.endObject()
  }

  private func keys(of path: PathBytes) throws(StorageError) -> [Key] {
    guard let keys = path.keys(after: base.bytes.count) else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return keys
  }
}
