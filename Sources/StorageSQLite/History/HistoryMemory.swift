internal import StorageCore
internal import Synchronization
internal import TreeModel

/// The recent changes of every namespace, shared by the writer and the readers.
///
/// ## Why a reader never misses a change
///
/// To read as of revision R is to take the leaves of a snapshot S and to undo, for each path, the earliest change after R.
/// Let H be the last revision that S sees and W the watermark that S sees. A reader opens S first and takes its copy of
/// this memory afterwards; let *start* be where the copy begins.
///
/// 1. The writer puts a batch in here *before* its COMMIT. S was opened after the COMMIT of H, the copy was taken later
///    still: the copy holds every change in (start, H].
/// 2. S's table holds every change up to W in the runs that S lists as whole: the watermark moves, and the generation is
///    listed, in the transaction that writes its last row. A merge makes a new run of whole ones, row by row, and exchanges
///    them in one transaction: S sees either them or it.
/// 3. If start <= W, (1) and (2) cover everything up to H; where they overlap they say the same. If start > W, a
///    generation was finished after S was opened; the gap (W, start] is read from S's commit log, which has it.
/// 4. What the copy holds beyond H (a batch on its way, one whose COMMIT failed, or later commits) is left out: the reader
///    asks S for H, unless the copy reaches back to R and has nothing to undo. It must be left out: a copy whose start lies
///    beyond H does not begin with the first change after H.
/// 5. The whole runs are disjoint in their revisions. Searched in that order, and each in the order of (path, revision), the
///    first row after R is the earliest change after R.
/// 6. A process that dies leaves rows of an unfinished generation G > W, which no list names. The next session removes them
///    and makes generations of its own from the commit log. A merge that was cut off goes on behind its last row.
///
/// An empty place is filled when it is needed first. The writer reads the log's tail through its own connection. A
/// reader reads it from its snapshot and installs it only if the place is still empty under the lock: then the writer has
/// not committed to this namespace since the process began, and the snapshot's log is the whole log.
final class HistoryMemory: Sendable {
  let limits: HistoryLimits
  private let places = Mutex<[NamespaceID: RecentChanges]>([:])

  init(limits: HistoryLimits) {
    self.limits = limits
  }

  /// A copy for a reader whose snapshot is open on `connection`.
  func recent(_ ns: NamespaceID, reading connection: SQLiteConnection) throws(StorageError) -> RecentChanges {
    if let recent = places.withLock({ $0[ns] }) { return recent }
    let loaded = try load(ns, from: connection)
    return places.withLock { places in
      if let recent = places[ns] { return recent }
      places[ns] = loaded
      return loaded
    }
  }

  /// Notes commits that are about to be made durable. For the writer.
  func publish(_ commits: [CommitRecord], in ns: NamespaceID, reading connection: SQLiteConnection) throws(StorageError) {
    _ = try recent(ns, reading: connection)
    places.withLock { places in
      for commit in commits {
        places[ns]?.append(commit.changes ?? [], of: commit.revision.rawValue, blockChanges: limits.blockChanges)
      }
    }
  }

  /// Freezes the open commits if they are at least `count` changes, or take ``HistoryLimits/generationBytes``. For the writer, who alone changes them: sorting
  /// happens outside the lock.
  func freeze(_ ns: NamespaceID, from count: Int) {
    guard let recent = places.withLock({ $0[ns] }),
      recent.openChanges >= count || recent.openBytes >= limits.generationBytes, let generation = recent.openGeneration()
    else { return }
    places.withLock { $0[ns]?.freeze(generation) }
  }

  /// The generation to write next. For the writer.
  func oldestFrozen(_ ns: NamespaceID) -> HistoryGeneration? {
    places.withLock { $0[ns]?.frozen.first }
  }

  /// Whether the frozen generations take more than they may: then the oldest is written at once. For the writer.
  func isOverfull(_ ns: NamespaceID) -> Bool {
    places.withLock { ($0[ns]?.frozenBytes ?? 0) > limits.frozenBytes }
  }

  /// After which revision the oldest frozen generation begins. For the writer.
  func start(_ ns: NamespaceID) -> Int64 {
    places.withLock { $0[ns]?.start ?? 0 }
  }

  /// Says that the oldest frozen generation is durable. For the writer.
  func complete(_ ns: NamespaceID) {
    places.withLock { $0[ns]?.complete() }
  }

  /// Says that the past was pruned. For the writer.
  func prune(_ ns: NamespaceID, through revision: Int64) {
    places.withLock { $0[ns]?.pruned = revision }
  }

  /// Forgets what stood within a range up to a revision. For the writer, inside the transaction that erases it in the table:
  /// a reader whose snapshot is older sees nothing there, as those after it.
  func erase(_ range: PathRange, through revision: Int64, in ns: NamespaceID) {
    places.withLock { $0[ns]?.erase(range, through: revision) }
  }

  func remove(_ ns: NamespaceID) {
    places.withLock { $0[ns] = nil }
  }

  var namespaces: [NamespaceID] {
    places.withLock { Array($0.keys) }
  }

  private func load(_ ns: NamespaceID, from connection: SQLiteConnection) throws(StorageError) -> RecentChanges {
    let (watermark, pruned) = try connection.watermark(ns)
    let start = max(watermark, pruned)
    var recent = RecentChanges(start: start, pruned: pruned)
    try connection.forEachCommit(ns, after: start) { commit throws(StorageError) in
      recent.append(try Self.changes(of: commit), of: commit.revision.rawValue, blockChanges: limits.blockChanges)
      return true
    }
    return recent
  }

  /// The next generation of the log after a revision; nil if too few changes are left for one.
  func generation(_ ns: NamespaceID, after start: Int64, from connection: SQLiteConnection) throws(StorageError)
    -> HistoryGeneration?
  {
    var columns = ChangeColumns()
    var last = start
    var isFull: Bool { columns.count >= limits.generationChanges || columns.bytes >= limits.generationBytes }
    try connection.forEachCommit(ns, after: start) { commit throws(StorageError) in
      columns.append(try Self.changes(of: commit), of: commit.revision.rawValue)
      last = commit.revision.rawValue
      return !isFull
    }
    return isFull ? HistoryGeneration(columns, last: last) : nil
  }

  private static func changes(of commit: CommitRecord) throws(StorageError) -> [LeafChange] {
    if let changes = commit.changes { return changes }
    throw StorageError(
      .unreadable, "The changes of commit \(commit.revision) were forgotten before they were in the history.")
  }
}

/// The changes of one namespace that are not yet (all) in the table `history`: the tail of its commit log, in memory.
///
/// A value: a reader takes a copy, which costs a few references, and looks things up without a lock.
struct RecentChanges {
  /// Where this memory begins: every change of a later revision is here.
  private(set) var start: Int64
  /// The last revision that was put in.
  private(set) var lastRevision: Int64
  /// Full generations, oldest first, on their way to the table.
  private(set) var frozen: [HistoryGeneration] = []
  /// The changes after the last frozen generation, in blocks, so that a reader's copy makes the writer copy one block.
  private var blocks: [ChangeColumns] = []
  private var block = ChangeColumns()
  private(set) var openChanges = 0
  /// What the open changes take in memory, about.
  private(set) var openBytes = 0
  /// Up to here the past was pruned: it is not read any more, even where it is still in this memory.
  var pruned: Int64

  init(start: Int64, pruned: Int64) {
    self.start = start
    self.pruned = pruned
    lastRevision = start
  }

  mutating func append(_ changes: [LeafChange], of revision: Int64, blockChanges: Int) {
    let before = block.bytes
    block.append(changes, of: revision)
    openChanges += changes.count
    openBytes += block.bytes - before
    lastRevision = revision
    if block.count >= blockChanges {
      blocks.append(block)
      block = ChangeColumns()
    }
  }

  /// The open changes as a generation; nil if there are none.
  func openGeneration() -> HistoryGeneration? {
    guard openChanges > 0 else { return nil }
    var all = ChangeColumns()
    for block in blocks { all.append(block) }
    all.append(block)
    return HistoryGeneration(all, last: lastRevision)
  }

  /// Puts a generation in the place of the open changes it was made of.
  mutating func freeze(_ generation: HistoryGeneration) {
    frozen.append(generation)
    blocks = []
    block = ChangeColumns()
    openChanges = 0
    openBytes = 0
  }

  /// What the frozen generations take in memory, about.
  var frozenBytes: Int { frozen.reduce(0) { $0 + $1.bytes } }

  /// Forgets the changes within a range up to a revision.
  mutating func erase(_ range: PathRange, through revision: Int64) {
    frozen = frozen.map { $0.without(range, through: revision) }
    blocks = blocks.map { $0.without(range, through: revision) }
    block = block.without(range, through: revision)
    openChanges = blocks.reduce(block.count) { $0 + $1.count }
    openBytes = blocks.reduce(block.bytes) { $0 + $1.bytes }
  }

  /// Forgets the oldest generation, which is now in the table.
  mutating func complete() {
    start = frozen.removeFirst().last
  }

  /// Calls `body` with each change of later revisions than `revision`, up to `last`, within a range of paths; oldest first
  /// for each path.
  func forEachChange(
    after revision: Int64, through last: Int64, in range: PathRange, body: (PathBytes, Int64, Scalar?) -> Void
  ) {
    for generation in frozen where generation.last > revision {
      generation.forEachRow(after: revision, through: last, in: range, body: body)
    }
    for block in blocks { block.forEachChange(after: revision, through: last, in: range, body: body) }
    block.forEachChange(after: revision, through: last, in: range, body: body)
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first index whose element is not before what is looked for.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
