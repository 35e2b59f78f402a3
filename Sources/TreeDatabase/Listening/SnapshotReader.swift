import StorageCore
import TreeModel

/// Reads what new listens begin with, on threads of its own: a large node holds up nobody's changes.
final class SnapshotReader: Sendable {
  private let queue = WriterQueue<LoadJob>(capacity: .max)
  private let threads: [BlockingThread]

  /// - `done`: called on one of the threads.
  init(
    engine: any StorageEngine, limits: ListenLimits, search: WindowSearch, done: @escaping @Sendable (LoadResult) -> Void
  ) {
    let queue = queue
    threads = (0..<max(1, limits.readerCount)).map { _ in
      BlockingThread {
        while let jobs = queue.take(1) {
          for job in jobs { done(Self.read(job, engine, limits, search)) }
        }
      }
    }
  }

  /// Bounded by the number of listens: a group has one job at a time.
  func push(_ job: LoadJob) { _ = queue.push(job) }

  /// Gives up what is queued, and waits for what is being read.
  func stop() {
    queue.discardAndClose()
    for thread in threads { thread.join() }
  }

  private static func read(
    _ job: LoadJob, _ engine: any StorageEngine, _ limits: ListenLimits, _ search: WindowSearch
  ) -> LoadResult {
    // Thousands of listens may have gone with their connection before it was their turn.
    guard !job.group.isGone else { return LoadResult(group: job.group, outcomes: [], window: nil) }
    do throws(ListenError) {
      let (revision, node) = try load(job, engine: engine, limits: limits, search: search)
      var window: LoadResult.Window?
      var shown = node
      if let query = job.query {
        let positions = query.positions(in: node)
        let wanted = ListenWindow.wanted(query, limits: limits) ?? .max
        if let generation = job.windowGeneration {
          window = LoadResult.Window(
            generation: generation, revision: revision, children: Array(positions.prefix(wanted)),
            isComplete: positions.count <= wanted)
        }
        shown = query.result(of: node)
      }
      let message = ListenMessage(revision: revision, kind: .overwrite, path: "", body: shown.json(job.format))
      return LoadResult(group: job.group, outcomes: outcomes(job, node: shown, message: message), window: window)
    } catch {
      return LoadResult(group: job.group, outcomes: job.waiters.map { ($0, .failed(error.end)) }, window: nil)
    }
  }

  /// The node, or of a query as many of its children as are wanted; and of which revision they are.
  private static func load(
    _ job: LoadJob, engine: any StorageEngine, limits: ListenLimits, search: WindowSearch
  ) throws(ListenError) -> (Revision, TreeNode) {
    try engine.read { (snapshot) throws(ListenError) in
      // All is looked up in one transaction: what is found is as of this head.
      let revision: Revision
      do throws(StorageError) {
        revision = try snapshot.head(of: job.namespace).revision
      } catch {
        throw ListenError(error)
      }
      let reader = CommitReader(
        snapshot: snapshot, namespace: job.namespace, revision: revision, leavesMax: limits.leavesMax, search: search)
      guard let query = job.query else { return (revision, try reader.node(at: job.path)) }
      let wanted = ListenWindow.wanted(query, limits: limits).map { $0 + 1 } ?? .max
      return (revision, try reader.children(of: job.path, first: wanted, in: query))
    }
  }

  /// Who has what is there already: the hash is computed once, and the clients' own ways of computing it only where that
  /// differs.
  private static func outcomes(_ job: LoadJob, node: TreeNode, message: ListenMessage) -> [(LoadJob.Waiter, LoadOutcome)] {
    var known: [String: Bool] = [:]
    return job.waiters.map { waiter in
      guard let hash = waiter.listening.request.dataHash, waiter.generation == 0 else {
        return (waiter, .read(message, isCurrent: false))
      }
      let isCurrent = known[hash] ?? node.matches(dataHash: hash)
      known[hash] = isCurrent
      return (waiter, .read(message, isCurrent: isCurrent))
    }
  }
}

/// A snapshot to read, for all listens of a group that wait for one.
struct LoadJob: Sendable {
  struct Waiter: Sendable {
    let listening: Listening
    /// See ``Listening/generation``.
    let generation: Int
  }

  let group: ListenGroup
  let namespace: NamespaceID
  let path: PathBytes
  let query: Query?
  let format: TreeFormat
  let waiters: [Waiter]
  /// Which window is to be filled, see ``ListenWindow/generation``; nil if it is filled already, or if there is none.
  let windowGeneration: Int?
}

/// What came of it.
struct LoadResult: Sendable {
  /// A window's first children.
  struct Window: Sendable {
    let generation: Int
    let revision: Revision
    let children: [QueryPosition]
    /// Whether there are no others.
    let isComplete: Bool
  }

  let group: ListenGroup
  let outcomes: [(waiter: LoadJob.Waiter, outcome: LoadOutcome)]
  let window: Window?
}

/// What came of reading a listen's snapshot.
enum LoadOutcome: Sendable {
  /// The node or window; and whether it is what the client said it holds.
  case read(ListenMessage, isCurrent: Bool)
  case failed(ListenEnd)
}
