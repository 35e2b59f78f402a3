/// Whose turn it is among those who run transactions on one place.
///
/// A client's transaction is a read, a function, and a write on the condition that nothing has changed; the client gives up
/// after 25 attempts. Where twenty clients count up the same number, chance alone makes one of them lose 25 times in a row. So
/// who was refused once gets a turn: those behind wait until the first in line has succeeded, given up, or let its time pass.
/// With it a contended transaction takes two or three attempts, however many there are. Nobody waits where nobody was refused.
///
/// Pure: says who may go on, and what the caller has to do.
struct TransactionLine {
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

  /// Refusals after which the first has had its turn: something else keeps changing the place.
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

  /// A write of `session` was refused, because the place has changed.
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
