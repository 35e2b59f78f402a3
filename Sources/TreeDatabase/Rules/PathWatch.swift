public import StorageCore
import Synchronization
public import TreeModel

/// Tells of commits at places that a verdict depends on: listens are evaluated again when what their rules looked at changes.
public final class PathWatch: Sendable {
  /// More places than this are watched as one: the root.
  private static let pathsMax = 64

  private struct Watched: Sendable {
    let namespace: NamespaceID
    let paths: [PathBytes]
    let changed: @Sendable () -> Void
  }

  private struct State {
    var watched: [Int64: Watched] = [:]
    var numbers: [NamespaceID: [PathBytes: Set<Int64>]] = [:]
    var last: Int64 = 0
  }

  private let state = Mutex(State())
  private let isWatching = Atomic<Bool>(false)

  init() {}

  /// How many watch.
  var count: Int { state.withLock { $0.watched.count } }

  /// Watches places until the result is let go.
  ///
  /// - `changed`: called for each batch of commits that changed one of the places, or something below it; on the
  ///   thread that tells of commits, where it must only take note.
  public func watch(_ paths: [PathBytes], in namespace: NamespaceID, changed: @escaping @Sendable () -> Void) -> PathWatching {
    let paths = paths.count > Self.pathsMax ? [.root] : paths
    let number = state.withLock { state in
      state.last += 1
      state.watched[state.last] = Watched(namespace: namespace, paths: paths, changed: changed)
      for pathBytes in paths { state.numbers[namespace, default: [:]][pathBytes, default: []].insert(state.last) }
      isWatching.store(true, ordering: .releasing)
      return state.last
    }
    return PathWatching { [weak self] in self?.end(number) }
  }

  private func end(_ number: Int64) {
    state.withLock { state in
      guard let watched = state.watched.removeValue(forKey: number) else { return }
      for pathBytes in watched.paths {
        state.numbers[watched.namespace]?[pathBytes]?.remove(number)
        if state.numbers[watched.namespace]?[pathBytes]?.isEmpty == true { state.numbers[watched.namespace]?[pathBytes] = nil }
      }
      if state.numbers[watched.namespace]?.isEmpty == true { state.numbers[watched.namespace] = nil }
      if state.watched.isEmpty { isWatching.store(false, ordering: .releasing) }
    }
  }

  func didCommit(_ batch: [CommittedRequest]) {
    guard isWatching.load(ordering: .acquiring) else { return }
    let concerned = state.withLock { state in
      var found: Set<Int64> = []
      for commit in batch {
        guard let numbers = state.numbers[commit.request.namespace] else { continue }
        for change in commit.changes { Self.collect(change.path, numbers: numbers, into: &found) }
      }
      return found.sorted().compactMap { state.watched[$0]?.changed }
    }
    for changed in concerned { changed() }
  }

  /// Watchers of the path of a leaf, or of one above it.
  private static func collect(_ path: PathBytes, numbers: [PathBytes: Set<Int64>], into found: inout Set<Int64>) {
    for end in [0] + path.keyEnds {
      if let here = numbers[PathBytes(bytes: Array(path.bytes[..<end]))] { found.formUnion(here) }
    }
    if path.isPriority, let here = numbers[path] { found.formUnion(here) }
  }
}

/// Watches as long as it is held.
public final class PathWatching: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}
