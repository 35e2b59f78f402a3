import StorageCore
import Synchronization
import TreeModel

/// Builds and removes indexes behind the writes: one bounded step at a time takes its place in the writer's queue, and its
/// completion queues the next.
///
/// Each step is durable together with how far it came, so that a restart goes on there. No thread and no task of its own: a
/// step waits like a write, and writes wait for a step at most.
final class IndexBuilder: Sendable {
  private struct State {
    /// Namespaces with something to build or to remove, in the order in which they came.
    var waiting: [NamespaceID] = []
    /// Those of them that got new rules while a step was on its way, which may not have known these yet.
    var renewed: Set<NamespaceID> = []
    var isRunning = false
    var problems: [NamespaceID: String] = [:]
  }

  /// Places that one step removes.
  private static let removalMax = 4096

  private let queue: WriterQueue<Database.Work>
  private let catalog: IndexCatalog
  private let state = Mutex(State())

  init(queue: WriterQueue<Database.Work>, catalog: IndexCatalog) {
    self.queue = queue
    self.catalog = catalog
  }

  /// Why building stopped in a namespace, if it did; it is tried again with the next rules and the next start.
  func problem(in namespace: NamespaceID) -> String? {
    state.withLock { $0.problems[namespace] }
  }

  /// Looks after a namespace until all its indexes are ready.
  func schedule(_ namespace: NamespaceID) {
    let starts = state.withLock { state in
      state.problems[namespace] = nil
      if state.waiting.contains(namespace) {
        state.renewed.insert(namespace)
      } else {
        state.waiting.append(namespace)
      }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { queueStep() }
  }

  private func queueStep() {
    let namespace = state.withLock { state in
      if state.waiting.isEmpty { state.isRunning = false }
      return state.waiting.first
    }
    guard let namespace else { return }
    // What the step found, for its completion.
    let isDone = Mutex(false)
    let work = Database.Work.task { [catalog] (session) throws(StorageError) in
      let done = try Self.step(namespace, rules: catalog.rules(of: namespace), session: session)
      isDone.withLock { $0 = done }
    } completion: { [self] result in
      state.withLock { state in
        if case .failure(let error) = result { state.problems[namespace] = error.message }
        let isAtEnd = if case .success = result { isDone.withLock { $0 } } else { true }
        let isRenewed = state.renewed.remove(namespace) != nil
        state.waiting.removeAll { $0 == namespace }
        if !isAtEnd || isRenewed { state.waiting.append(namespace) }
      }
      queueStep()
    }
    // Beyond the queue's bound by one: a full queue must not end the building. A closed one does; the next start goes on.
    if queue.push(work, isBounded: false) == .closed { state.withLock { $0.isRunning = false } }
  }

  /// - Returns: whether nothing is left to do in the namespace.
  private static func step(_ namespace: NamespaceID, rules: NamespaceRules?, session: any CommitSession)
    throws(StorageError) -> Bool
  {
    guard let record = try session.indexes(in: namespace).first(where: { $0.state != .ready }) else { return true }
    if record.state == .dropping {
      if try session.hasIndexEntries(of: record.id, in: namespace) {
        session.removeIndexEntries(of: record.id, in: namespace, limit: removalMax)
      } else {
        session.removeIndex(record.id, in: namespace)
      }
      return false
    }
    guard let index = rules?.indexes.first(where: { $0.id == record.id }) else { return true }
    session.put(try IndexBuild(index: index, namespace: namespace, session: session).step(record), in: namespace)
    return false
  }
}

/// Builds one index for what is in the tree already, a bounded step at a time, on the writer.
///
/// The walk goes through the tree in path order and jumps over what the pattern does not match. It is safe to be repeated
/// and to meet children that commits have placed since: a place is always that of the child as the batch has it.
struct IndexBuild {
  let index: TreeIndex
  let namespace: NamespaceID
  let session: any CommitSession

  /// Children that one step places, and seeks that it may need to find them.
  static let childrenMax = 256
  static let seeksMax = 1024

  /// Goes on where the record is.
  ///
  /// - Returns: the record after the step.
  func step(_ record: IndexRecord) throws(StorageError) -> IndexRecord {
    var record = record
    var at = record.cursor ?? index.trunk
    let end = index.trunk.subtreeEnd ?? .afterAll
    var placed = 0
    var seeks = 0
    while placed < Self.childrenMax, seeks < Self.seeksMax {
      seeks += 1
      guard let found = try session.leaves(in: namespace, from: at, to: end, limit: 1).first else {
        record.state = .ready
        break
      }
      let path = found.leaf.path
      let ends = path.keyEnds
      if let level = index.firstMismatch(path, ends: ends) {
        at = jump(from: path, ends: ends, level: level)
      } else if ends.count <= index.depth {
        // A leaf or priority at or above a parent: its children, if it has any, come behind it.
        at = PathBytes(bytes: path.bytes + [0])
      } else {
        let child = PathBytes(bytes: Array(path.bytes[..<ends[index.depth]]))
        try place(child, parentBytes: index.depth == 0 ? 0 : ends[index.depth - 1])
        placed += 1
        guard let next = child.subtreeEnd else { break }
        at = next
      }
    }
    record.cursor = at
    record.childCount += Int64(placed)
    return record
  }

  /// Where the pattern can match again after a path that fails it at a level with a key of its own.
  private func jump(from path: PathBytes, ends: [Int], level: Int) -> PathBytes {
    let parent = PathBytes(bytes: Array(path.bytes[..<(level == 0 ? 0 : ends[level - 1])]))
    let wanted = PathBytes(bytes: parent.bytes + (index.literal(level) ?? []))
    return path < wanted ? wanted : parent.subtreeEnd ?? .afterAll
  }

  private func place(_ child: PathBytes, parentBytes: Int) throws(StorageError) {
    guard let key = child.key(at: parentBytes)?.key else { throw .unreadablePath }
    guard let rank = try index.rank(of: child, in: namespace, session: session) else { return }
    let parent = PathBytes(bytes: Array(child.bytes[..<parentBytes]))
    session.setIndexEntry(IndexEntry(rank, key), isTaken: true, below: parent, of: index.id, in: namespace)
  }
}
