internal import StorageCore
internal import TreeModel

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
    after revision: Int64, through last: Int64, in range: PathRange, _ body: (PathBytes, Int64, Scalar?) -> Void
  ) {
    for generation in frozen where generation.last > revision {
      generation.forEachRow(after: revision, through: last, in: range, body)
    }
    for block in blocks { block.forEachChange(after: revision, through: last, in: range, body) }
    block.forEachChange(after: revision, through: last, in: range, body)
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
