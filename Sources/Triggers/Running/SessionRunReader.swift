import FunctionsKit
import StorageCore
import Synchronization
import TreeModel

/// Reads for one run on the writer: from the batch, right after the event's commit was judged and before anything else is.
///
/// So the latest state is that of the event's commit; what was before it, the commit's own changes tell. It also keeps the
/// run's time and counts what it reads: beyond the budget the run is dropped, whatever the function makes of the error.
/// `@unchecked Sendable`: the session and the count are touched by the thread that made it alone, as long as the run lasts; any
/// other thread, and any later use, is turned away by ``checkRun()`` first.
final class SessionRunReader: RunReader, @unchecked Sendable {
  let namespace: NamespaceID
  let leavesMax: Int
  let identities: IdentityHash?
  let now: Int64
  private let session: any CommitSession
  private let changes: [LeafChange]
  private let thread = ThreadIdentity.current
  private let watch: InlineWatch
  private let options: InlineOptions
  private let startedAt: Int64
  private var lookUps = 0
  private let dropped = Atomic(false)

  /// - `changes`: those of the event's commit.
  init(
    _ session: any CommitSession, of namespace: NamespaceID, changes: [LeafChange], options: DispatcherOptions, now: Int64,
    watch: InlineWatch
  ) {
    self.session = session
    self.namespace = namespace
    self.changes = changes
    self.now = now
    self.watch = watch
    self.options = options.inline
    leavesMax = options.limits.leavesMax
    identities = options.identities
    startedAt = options.inline.meter.elapsed()
    watch.note(startedAt)
  }

  /// Whether the run was cut off.
  var isDropped: Bool { dropped.load(ordering: .acquiring) }

  /// How long the run has lasted, in nanoseconds.
  var elapsed: Int64 { options.meter.elapsed() - startedAt }

  /// Whether it has lasted too long.
  var isOverdue: Bool { elapsed > options.budget }

  /// Ends the run: from now on every use is turned away.
  func drop() { dropped.store(true, ordering: .releasing) }

  func checkRun() throws {
    guard !isDropped else { throw RunDropped() }
    let time = options.meter.elapsed()
    guard ThreadIdentity.current == thread, time - startedAt <= options.budget else {
      drop()
      throw RunDropped()
    }
    watch.note(time)
  }

  func look<Result>(_ body: (any StorageReading & AccountReading) throws(StorageError) -> Result) throws -> Result {
    try count()
    return try body(session)
  }

  func nodeAtEvent(_ path: Path) throws -> TreeNode { try latestNode(path) }

  func existsAtEvent(_ path: Path) throws -> Bool {
    let place = PathBytes(path)
    return try look { (state) throws(StorageError) in
      try !state.leaves(in: namespace, under: place, limit: 1).isEmpty
    }
  }

  func nodeBeforeEvent(_ path: Path) throws -> TreeNode {
    let place = PathBytes(path)
    let changed = changes.filter { place.contains($0.path) }
    let limit = leavesMax + changed.count + 1
    let latest = try look { (state) throws(StorageError) in
      try state.leaves(in: namespace, under: place, limit: limit)
    }
    var leaves = latest.filter { changed.change(at: $0.leaf.path) == nil }
    for change in changed {
      guard let before = change.before else { continue }
      leaves.append(StoredLeaf(leaf: Leaf(path: change.path, scalar: before), revision: .zero))
    }
    return try node(leaves.sorted { $0.leaf.path < $1.leaf.path }, at: path, place)
  }

  /// The writer has no past to look at: a thread does.
  func exists(_ path: Path, at time: Int64) throws -> Bool { try giveUp() }

  /// The writer lists no records: a thread does.
  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)] { try giveUp() }

  private func count() throws {
    try checkRun()
    lookUps += 1
    if lookUps > options.lookUpsMax { try giveUp() }
  }

  private func giveUp() throws -> Never {
    drop()
    throw RunDropped()
  }
}

/// Ends a run on the writer from inside: it is repeated on a thread, as if nothing had happened. The function may catch it, to
/// no avail.
struct RunDropped: Error {}

/// Since when the writer computes for a function without hearing of it.
final class InlineWatch: Sendable {
  private let time = Atomic<Int64>(0)

  /// When the run that is under way used its context last, by the meter; nil if none is.
  var lastUse: Int64? {
    let time = time.load(ordering: .acquiring)
    return time == 0 ? nil : time
  }

  /// Takes note of a run's beginning, or of its use of the context.
  func note(_ now: Int64) { time.store(max(now, 1), ordering: .releasing) }

  /// No run is under way.
  func clear() { time.store(0, ordering: .releasing) }
}
