import StorageCore
import Synchronization
import TreeModel

/// Builds and removes indexes behind the writes: one bounded step at a time takes its place in the writer's queue, and its
/// completion queues the next.
///
/// Each step is durable together with how far it came, so that a restart goes on there. No thread and no task of its own: a
/// step waits like a write, and writes wait for a step at most.
final class IndexKeeper: Sendable {
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
  func tend(_ namespace: NamespaceID) {
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
    // What the step found is read by its completion, on the same thread.
    let isDone = Mutex(false)
    let work = Database.Work.task { [catalog] (session) throws(StorageError) in
      let done = try Self.step(namespace, catalog.rules(of: namespace), session)
      isDone.withLock { $0 = done }
    } completion: { [self] result in
      state.withLock { state in
        if case .failure(let refusal) = result { state.problems[namespace] = refusal.message }
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
  private static func step(_ namespace: NamespaceID, _ rules: NamespaceRules?, _ session: any WriteSession)
    throws(StorageError) -> Bool
  {
    guard let record = try session.indexes(in: namespace).first(where: { $0.state != .ready }) else { return true }
    if record.state == .dropping {
      if try session.hasPlaces(of: record.id, in: namespace) {
        session.removePlaces(of: record.id, in: namespace, limit: removalMax)
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
