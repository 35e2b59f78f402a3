import Synchronization

/// Sees to it that the past is rewritten by one at a time: a pruning that reads what an erasure is about to take would write it
/// into its checkpoint.
public final class UpkeepTurn: Sendable {
  private let holder = Mutex<String?>(nil)

  init() {}

  /// Takes the turn.
  ///
  /// - Parameter work: what it is for: "An erasure", "A pruning".
  /// - Returns: who has it, if it is taken; nil if it is the caller's now, who must ``end()`` it.
  public func begin(_ work: String) -> String? {
    holder.withLock { holder in
      if let holder { return holder }
      holder = work
      return nil
    }
  }

  /// Gives the turn back.
  public func end() { holder.withLock { $0 = nil } }
}
