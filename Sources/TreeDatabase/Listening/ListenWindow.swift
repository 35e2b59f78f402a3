import StorageCore
import TreeModel

/// A query's window over a node's children, kept from commit to commit. Used on the hub's thread.
///
/// It holds where children stand, not the children. A window with a limit also remembers a reserve: the children that follow.
/// Of all children within the bounds ``ranked`` always holds the first ones; so when one leaves, the next is at hand, and
/// only when the reserve is used up the store is searched.
final class ListenWindow {
  /// A commit that waits for the window to be filled.
  typealias Pending = (commit: CommittedRequest, changes: Range<Int>)

  enum State {
    case loading
    /// It is as of this revision, or as of any later one that it was told of.
    case live(Revision)
  }

  struct Child {
    let place: QueryPlace
    /// Whether clients have it.
    var isShown: Bool
  }

  let query: Query
  let path: PathBytes
  let limits: ListenLimits
  let limit: Int
  private(set) var state = State.loading
  /// Counts how often it had to be filled: what was read for an earlier filling does not count.
  private(set) var generation = 0
  private(set) var pending: [Pending] = []
  /// Of the commits that waited, those up to this revision were dropped.
  private(set) var droppedThrough = Revision.zero

  /// The children by name.
  var places: [Key: QueryPlace] = [:]
  /// The same, in the window's direction; empty for a window without a limit, which needs no order.
  var ranked: [Child] = []
  /// Whether there are no children within the bounds but these.
  var isComplete = true

  init(query: Query, path: PathBytes, limits: ListenLimits) {
    self.query = query
    self.path = path
    self.limits = limits
    limit =
      switch query.limit {
      case nil: .max
      // So many children no node has; and what is read beyond the limit can be counted.
      case .first(let count), .last(let count): count < .max / 4 ? max(0, count) : .max
      }
  }

  var hasLimit: Bool { limit < .max }
  var isLive: Bool { if case .live = state { true } else { false } }

  /// How many children are remembered beyond the limit.
  var reserve: Int { min(max(limit, 16), limits.reserveMax) }

  /// How many children to read when it is filled; nil for all.
  static func wanted(_ query: Query, _ limits: ListenLimits) -> Int? {
    let window = ListenWindow(query: query, path: .root, limits: limits)
    return window.hasLimit ? window.limit + window.reserve : nil
  }

  /// Begins anew: something was missed.
  func reset() {
    generation += 1
    state = .loading
    pending = []
    droppedThrough = .zero
    places = [:]
    ranked = []
  }

  /// A commit that comes before the window is filled.
  func hold(_ commit: CommittedRequest, _ changes: Range<Int>) {
    if pending.count >= limits.heldMessagesMax { droppedThrough = pending.removeFirst().commit.receipt.revision }
    pending.append((commit, changes))
  }

  /// - Returns: the commits that waited and came after what was read; nil if something is missing in between.
  func fill(_ result: LoadResult.Window) -> [Pending]? {
    guard result.revision >= droppedThrough else { return nil }
    set(result.children, isComplete: result.isComplete)
    for index in ranked.indices { ranked[index].isShown = index < limit }
    state = .live(result.revision)
    let waiting = pending.filter { $0.commit.receipt.revision > result.revision }
    pending = []
    return waiting
  }

  func set(_ children: [QueryPlace], isComplete: Bool) {
    places = Dictionary(uniqueKeysWithValues: children.map { ($0.key, $0) })
    ranked = hasLimit ? children.map { Child(place: $0, isShown: false) } : []
    self.isComplete = isComplete
  }

  /// Where a child stands in the order, or would.
  func index(of place: QueryPlace) -> Int {
    var (low, high) = (0, ranked.count)
    while low < high {
      let middle = (low + high) / 2
      if query.leads(ranked[middle].place, place) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
