import NIOCore
import StorageCore
import Synchronization
import TreeModel

/// Whose turn it is among the sessions that run transactions on one path.
///
/// A client's transaction is a read, a function, and a write on the condition that nothing has changed; the client gives up
/// after 25 attempts. Where twenty clients count up the same number, chance alone makes one of them lose 25 times in a row. So
/// who was refused once gets a turn: those behind wait until the first in line has succeeded, given up, or let its time pass.
/// With it a contended transaction takes two or three attempts, however many there are. Without a refusal nobody waits.
///
/// Pure: says who may go on, and what the caller has to do.
struct TransactionQueue {
  enum Step: Equatable {
    /// The write goes to the writer.
    case proceed
    /// The write waits until it is called.
    case wait
  }

  /// What is to be done after something happened.
  enum Turn: Equatable {
    case nothing
    /// The write of this session, which waits, goes on.
    case call(String)
    /// This session is first, and nothing of it is here: its time runs.
    case await(String, generation: Int)
  }

  private struct Member {
    let session: String
    var isWaiting: Bool
    var attempts = 0
  }

  /// Refusals after which the first has had its turn: something else keeps changing the path.
  static let attemptsMax = 8

  private var members: [Member] = []
  /// Counts the turns, so that time that ran for an earlier one does not end a later.
  private var generation = 0

  var isEmpty: Bool { members.isEmpty }

  /// A write of `session` has come.
  mutating func come(_ session: String) -> Step {
    guard let first = members.first else { return .proceed }
    if first.session == session {
      generation += 1
      return .proceed
    }
    if let index = members.firstIndex(where: { $0.session == session }) {
      members[index].isWaiting = true
    } else {
      members.append(Member(session: session, isWaiting: true))
    }
    return .wait
  }

  /// A write of `session` was refused, because the path has changed.
  mutating func lose(_ session: String) -> Turn {
    guard let index = members.firstIndex(where: { $0.session == session }) else {
      members.append(Member(session: session, isWaiting: false))
      return members.count == 1 ? awaitFirst() : .nothing
    }
    guard index == 0 else { return .nothing }
    members[0].attempts += 1
    return members[0].attempts < Self.attemptsMax ? awaitFirst() : leave(session)
  }

  /// `session` has succeeded, given up, or gone.
  mutating func leave(_ session: String) -> Turn {
    guard let index = members.firstIndex(where: { $0.session == session }) else { return .nothing }
    members.remove(at: index)
    guard index == 0, let first = members.first else { return .nothing }
    guard first.isWaiting else { return awaitFirst() }
    members[0].isWaiting = false
    generation += 1
    return .call(first.session)
  }

  /// The time of a turn has passed.
  mutating func expire(_ generation: Int) -> Turn {
    guard generation == self.generation, let first = members.first else { return .nothing }
    return leave(first.session)
  }

  private mutating func awaitFirst() -> Turn {
    generation += 1
    return .await(members[0].session, generation: generation)
  }
}

/// The ``TransactionQueue`` of every path on which transactions conflict.
final class TransactionQueues: Sendable {
  struct Key: Hashable {
    let namespace: NamespaceID
    let path: Path
  }

  /// How long the first in line may be silent: a client needs one round trip.
  private static let longTimeout = TimeAmount.milliseconds(500)

  private let queues = Mutex<[Key: TransactionQueue]>([:])

  func come(_ session: String, to key: Key) -> TransactionQueue.Step {
    // Nothing is kept of a path without refusals.
    queues.withLock { $0[key]?.come(session) ?? .proceed }
  }

  func lose(_ session: String, at key: Key, sessions: SocketSessions) {
    take(queues.withLock { $0[key, default: TransactionQueue()].lose(session) }, at: key, sessions: sessions)
  }

  func leave(_ session: String, key: Key, sessions: SocketSessions) {
    let turn = queues.withLock { queues -> TransactionQueue.Turn in
      guard let turn = queues[key]?.leave(session) else { return .nothing }
      if queues[key]?.isEmpty == true { queues[key] = nil }
      return turn
    }
    take(turn, at: key, sessions: sessions)
  }

  private func expire(_ generation: Int, at key: Key, sessions: SocketSessions) {
    let turn = queues.withLock { queues -> TransactionQueue.Turn in
      guard let turn = queues[key]?.expire(generation) else { return .nothing }
      if queues[key]?.isEmpty == true { queues[key] = nil }
      return turn
    }
    take(turn, at: key, sessions: sessions)
  }

  private func take(_ turn: TransactionQueue.Turn, at key: Key, sessions: SocketSessions) {
    switch turn {
    case .nothing: break
    case .call(let id):
      guard let session = sessions.find(id) else { return leave(id, key: key, sessions: sessions) }
      // Never on this stack: a turn that is refused at once calls the next.
      session.eventLoop.execute { session.run { $0.takeTurn() } }
    case .await(let id, let generation):
      guard let session = sessions.find(id) else { return leave(id, key: key, sessions: sessions) }
      session.eventLoop.scheduleTask(in: Self.longTimeout) { self.expire(generation, at: key, sessions: sessions) }
    }
  }
}

/// The queues that a session is in for its transactions, so that it can leave them when it ends. Pure.
///
/// It may have left some of these queues since, when its time there had passed. The one where a write of it waits it never
/// leaves by itself, for nothing else would continue that write.
struct QueuedTransactions {
  /// More are not kept: a session that is in so many queues leaves one.
  static let keysMax = 64

  private(set) var all: Set<TransactionQueues.Key> = []

  /// The session is in this queue now.
  ///
  /// - `waiting`: where a write of it waits.
  /// - Returns: the queue that it must leave for that.
  mutating func enter(_ key: TransactionQueues.Key, keeping waiting: TransactionQueues.Key?) -> TransactionQueues.Key? {
    guard !all.contains(key) else { return nil }
    let other = all.count < Self.keysMax ? nil : all.first { $0 != waiting }
    if let other { all.remove(other) }
    all.insert(key)
    return other
  }

  /// A transaction under this key is over.
  ///
  /// - Returns: whether the session must leave the queue.
  mutating func leave(_ key: TransactionQueues.Key, keeping waiting: TransactionQueues.Key?) -> Bool {
    key != waiting && all.remove(key) != nil
  }
}
