import ClientRuntime
import SyncModel
import TreeModel

/// The states of a window: of those that come while the reader is busy, only the newest is kept.
public struct DatabaseSnapshots: AsyncSequence, Sendable {
  /// What comes.
  public typealias Element = DataSnapshot
  /// Why it ends.
  public typealias Failure = any Error
  let query: DatabaseQuery

  /// Begins to listen; ends when the iterator, or its task, does.
  public func makeAsyncIterator() -> AsyncThrowingStream<DataSnapshot, any Error>.Iterator {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let handle = query.database.core.observe(query, [.value], onQueue: false) { snapshot, _ in
        continuation.yield(snapshot)
      } cancelled: { error in
        continuation.finish(throwing: error)
      }
      continuation.onTermination = { [database = query.database] _ in database.core.removeObserver(handle) }
    }.makeAsyncIterator()
  }
}

/// What happens to a window's children.
public enum ChildEvent: Sendable {
  /// A child came into the window, behind the one of the key.
  case added(DataSnapshot, previousKey: String?)
  /// A child's value is another.
  case changed(DataSnapshot, previousKey: String?)
  /// A child stands somewhere else in the order.
  case moved(DataSnapshot, previousKey: String?)
  /// A child left the window.
  case removed(DataSnapshot)
}

/// What happens to a window's children, every step of it.
public struct DatabaseChildEvents: AsyncSequence, Sendable {
  /// What comes.
  public typealias Element = ChildEvent
  /// Why it ends.
  public typealias Failure = any Error
  let query: DatabaseQuery

  /// Events that may wait before a line in the log says that the reader is too slow.
  static let waitingMax = 10_000

  /// Begins to listen; ends when the iterator, or its task, does.
  public func makeAsyncIterator() -> AsyncThrowingStream<ChildEvent, any Error>.Iterator {
    let log = query.database.environment.log
    let isWarned = Locked(false)
    return AsyncThrowingStream(bufferingPolicy: .unbounded) { continuation in
      let handle = query.database.core.observe(query, [.added, .changed, .moved, .removed], onQueue: false) { snapshot, event in
        let result = continuation.yield(Self.event(snapshot, event))
        guard case .enqueued(let remaining) = result, Int.max - remaining > Self.waitingMax else { return }
        let isFirst = isWarned.withLock { warned in
          defer { warned = true }
          return !warned
        }
        if isFirst { log(.warning, "More than \(Self.waitingMax) child events wait to be read at \(snapshot.ref.url).") }
      } cancelled: { error in
        continuation.finish(throwing: error)
      }
      continuation.onTermination = { [database = query.database] _ in database.core.removeObserver(handle) }
    }.makeAsyncIterator()
  }

  private static func event(_ snapshot: DataSnapshot, _ event: TreeEvent) -> ChildEvent {
    switch event.kind {
    case .removed: .removed(snapshot)
    case .moved: .moved(snapshot, previousKey: event.previous?.text)
    case .changed: .changed(snapshot, previousKey: event.previous?.text)
    case .added, .value: .added(snapshot, previousKey: event.previous?.text)
    }
  }
}

extension DatabaseQuery {
  /// The states of the window, from the present one on; throws if the rules do not, or no longer, allow it.
  public final var snapshots: DatabaseSnapshots { DatabaseSnapshots(query: self) }

  /// What happens to the window's children, those that are there first; throws if the rules do not, or no longer, allow it.
  public final func childEvents() -> DatabaseChildEvents { DatabaseChildEvents(query: self) }
}
