import Synchronization

/// What one connection, session or request holds of a ``ByteBudget``. Gives it back when nobody refers to it any more.
///
/// Used by one event loop; the last reference may go on any thread.
package final class ByteShare: Sendable {
  /// Less than this is not counted, and more is counted in steps of it: small requests never take the budget's lock. How many
  /// connections may hold so little is bounded by the number of connections.
  package static let step = 16 << 10

  let network: ClientAddress
  package let giveUp: @Sendable () -> Void
  private let budget: ByteBudget
  /// Steps that are held; 0 also where nothing is counted.
  private let steps = Atomic<Int>(0)

  init(budget: ByteBudget, network: ClientAddress, giveUp: @escaping @Sendable () -> Void) {
    self.budget = budget
    self.network = network
    self.giveUp = giveUp
  }

  deinit {
    if steps.load(ordering: .relaxed) > 0 { budget.release(ObjectIdentifier(self)) }
  }

  /// Holds so many bytes from now on, in the place of what it held.
  ///
  /// - Parameter isReleasable: false for what is being worked on, and cannot be let go.
  /// - Returns: false if that is too much, or the share was given up: then whatever was held must be let go, and the client
  ///   told.
  package func hold(_ bytes: Int, as standing: ClientStanding, isReleasable: Bool = true) -> Bool {
    let before = steps.load(ordering: .relaxed)
    let after = standing == .administrator ? 0 : bytes / Self.step
    guard before != after || (before > 0 && !isReleasable) else { return true }
    steps.store(after, ordering: .relaxed)
    if after == 0 {
      budget.release(ObjectIdentifier(self))
      return true
    }
    let isHeld = budget.hold(
      after * Self.step, by: self, as: standing, isReleasable: isReleasable, heldBefore: before > 0)
    if !isHeld { steps.store(0, ordering: .relaxed) }
    return isHeld
  }
}
