import StorageCore

/// What of one namespace's events is settled: the watermark for storage, and what waiters wait for.
///
/// Two countings, because a delivery that waits for a retry is settled for both (it has its record) but becomes active
/// again when its time comes, behind the watermark:
/// - *unsettled* by revision, for the watermark: pairs of event and function without a durable end or delivery record;
/// - *active* by root, for waiters: pairs that are queued, running or on their way to the disk, counted under the client's
///   write at the beginning of their chain of causes.
struct SettlementTracker {
  private struct Commit {
    let revision: Revision
    var unsettled: Int
  }

  private struct Origin {
    let root: Revision
    var active: Int
  }

  private struct Root {
    var active = 0
    var watchers: [Int] = []
  }

  /// The last event that was taken in; without a path: before the events of that revision.
  private(set) var absorbed: EventPosition
  private var commits: [Commit] = []
  private var first = 0
  private var origins: [Revision: Origin] = [:]
  private var roots: [Revision: Root] = [:]
  /// Commits that are known of before their events were taken in, and their roots.
  private var expected: [Revision: Revision] = [:]

  /// - Parameter settled: up to here everything is settled already.
  init(settled: Revision) {
    absorbed = EventPosition(revision: settled.next, path: nil)
  }

  var isQuiet: Bool { roots.isEmpty }
  /// Everyone who waits for a root, once for each.
  var watchers: [Int] { roots.values.flatMap(\.watchers) }
  var activeRoots: [Revision] { Array(roots.keys) }

  /// Whether an event was taken in before.
  func hasAbsorbed(_ event: EventID) -> Bool {
    if event.revision != absorbed.revision { return event.revision < absorbed.revision }
    return absorbed.path.map { event.path <= $0 } ?? false
  }

  /// Takes in an event, in order.
  ///
  /// - `functions`: how many functions have not finished it.
  /// - `parent`: the revision whose event's function wrote it.
  /// - Returns: the root of its chain.
  mutating func absorb(_ event: EventID, functions: Int, parent: Revision?) -> Revision {
    let revision = event.revision
    absorbed = EventPosition(revision: revision, path: event.path)
    let root = origins[revision]?.root ?? parent.flatMap { origins[$0]?.root } ?? expected[revision] ?? revision
    guard functions > 0 else { return root }
    if commits.last?.revision == revision {
      commits[commits.count - 1].unsettled += functions
      first = min(first, commits.count - 1)
    } else {
      commits.append(Commit(revision: revision, unsettled: functions))
    }
    return root
  }

  /// One function of an event of this revision has a durable end, or a delivery record.
  mutating func settle(_ revision: Revision) {
    var low = first
    var high = commits.count
    while low < high {
      let middle = (low + high) / 2
      if commits[middle].revision < revision { low = middle + 1 } else { high = middle }
    }
    guard low < commits.count, commits[low].revision == revision else { return }
    commits[low].unsettled -= 1
    while first < commits.count, commits[first].unsettled == 0 { first += 1 }
    if first >= 64, first * 2 >= commits.count {
      commits.removeFirst(first)
      first = 0
    }
  }

  /// Up to where everything is settled.
  ///
  /// - Parameter isLagging: whether more events of the last revision may be unread.
  func watermark(isLagging: Bool) -> Revision {
    if first < commits.count { return commits[first].revision.previous }
    return isLagging || absorbed.path == nil ? absorbed.revision.previous : absorbed.revision
  }

  /// The first commit with an event that a function has not finished; nil if there is none.
  var oldestUnsettled: Revision? { first < commits.count ? commits[first].revision : nil }

  // MARK: Waiting

  mutating func begin(_ revision: Revision, root: Revision) {
    origins[revision, default: Origin(root: root, active: 0)].active += 1
    roots[root, default: Root()].active += 1
  }

  /// - Returns: the waiters for whom this root is quiet now.
  mutating func end(_ revision: Revision, root: Revision) -> [Int] {
    if let active = origins[revision]?.active {
      if active == 1 { origins[revision] = nil } else { origins[revision]?.active = active - 1 }
    }
    return release(root)
  }

  /// A commit has events that were not taken in yet: its root stays active until they are.
  mutating func expect(_ revision: Revision, root: Revision) {
    guard absorbed.path == nil ? revision >= absorbed.revision : revision > absorbed.revision else { return }
    guard expected.updateValue(root, forKey: revision) == nil else { return }
    roots[root, default: Root()].active += 1
  }

  /// Ends the expectation of all commits up to the one that was taken in last.
  mutating func releaseExpected(through revision: Revision) -> [Int] {
    guard !expected.isEmpty else { return [] }
    var quiet: [Int] = []
    for (known, root) in expected where known <= revision {
      expected[known] = nil
      quiet += release(root)
    }
    return quiet
  }

  /// The root of what was caused by an event of this revision.
  func root(of revision: Revision) -> Revision {
    origins[revision]?.root ?? expected[revision] ?? revision
  }

  /// Adds a waiter for a root.
  ///
  /// - Returns: whether there is anything to wait for.
  mutating func watch(_ root: Revision, for waiter: Int) -> Bool {
    guard roots[root] != nil, roots[root]?.watchers.contains(waiter) == false else { return false }
    roots[root]?.watchers.append(waiter)
    return true
  }

  private mutating func release(_ root: Revision) -> [Int] {
    guard let active = roots[root]?.active else { return [] }
    guard active == 1 else {
      roots[root]?.active = active - 1
      return []
    }
    return roots.removeValue(forKey: root)?.watchers ?? []
  }
}
