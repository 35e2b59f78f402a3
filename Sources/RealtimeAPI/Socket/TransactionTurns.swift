import NIOCore
import StorageCore
import Synchronization
import TreeModel

/// The ``TransactionLine`` of every place on which transactions meet.
final class TransactionTurns: Sendable {
  struct Place: Hashable {
    let namespace: NamespaceID
    let path: Path
  }

  /// How long the first in line may be silent: a client needs one round trip.
  private static let patience = TimeAmount.milliseconds(500)

  private let lines = Mutex<[Place: TransactionLine]>([:])

  func come(_ session: String, to place: Place) -> TransactionLine.Step {
    // Nothing is kept of a place where nobody was refused.
    lines.withLock { $0[place]?.come(session) ?? .proceed }
  }

  func lose(_ session: String, at place: Place, _ sessions: SocketSessions) {
    take(lines.withLock { $0[place, default: TransactionLine()].lose(session) }, at: place, sessions)
  }

  func leave(_ session: String, _ place: Place, _ sessions: SocketSessions) {
    let turn = lines.withLock { lines -> TransactionLine.Turn in
      guard let turn = lines[place]?.leave(session) else { return .nothing }
      if lines[place]?.isEmpty == true { lines[place] = nil }
      return turn
    }
    take(turn, at: place, sessions)
  }

  private func expire(_ generation: Int, at place: Place, _ sessions: SocketSessions) {
    let turn = lines.withLock { lines -> TransactionLine.Turn in
      guard let turn = lines[place]?.expire(generation) else { return .nothing }
      if lines[place]?.isEmpty == true { lines[place] = nil }
      return turn
    }
    take(turn, at: place, sessions)
  }

  private func take(_ turn: TransactionLine.Turn, at place: Place, _ sessions: SocketSessions) {
    switch turn {
    case .nothing: break
    case .call(let id):
      guard let session = sessions.find(id) else { return leave(id, place, sessions) }
      // Never on this stack: a turn that is refused at once calls the next.
      session.eventLoop.execute { session.run { $0.takeTurn() } }
    case .await(let id, let generation):
      guard let session = sessions.find(id) else { return leave(id, place, sessions) }
      session.eventLoop.scheduleTask(in: Self.patience) { self.expire(generation, at: place, sessions) }
    }
  }
}
