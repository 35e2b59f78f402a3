public import StorageCore
import Synchronization

/// Which users are connected for longer than a request: sockets and streams, told when a user's tokens become void.
public final class ConnectedUsers: Sendable {
  /// One connection of a user; ends with ``ConnectedUsers/remove(_:)``.
  struct Place: Sendable, Hashable {
    let uid: ExactKey
    let number: Int
  }

  private struct State {
    var next = 0
    var clients: [ExactKey: [Int: @Sendable (AccountRevocation) -> Void]] = [:]
  }

  private let state = Mutex(State())

  public init() {}

  /// - Parameter look: called on any thread when the user's tokens became void, or are about to; it must hop and look.
  func add(_ uid: String, look: @escaping @Sendable (AccountRevocation) -> Void) -> Place {
    state.withLock { state in
      state.next += 1
      let key = ExactKey(text: uid)
      state.clients[key, default: [:]][state.next] = look
      return Place(uid: key, number: state.next)
    }
  }

  func remove(_ place: Place) {
    state.withLock { state in
      state.clients[place.uid]?[place.number] = nil
      if state.clients[place.uid]?.isEmpty == true { state.clients[place.uid] = nil }
    }
  }

  /// Tells the connections of a user.
  public func tell(_ revocation: AccountRevocation) {
    let looks = state.withLock { state in Array((state.clients[ExactKey(text: revocation.uid)] ?? [:]).values) }
    for look in looks { look(revocation) }
  }
}
