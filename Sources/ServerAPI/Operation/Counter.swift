import Synchronization

/// A number that many threads add to.
///
/// A class, so that counters can stand in arrays: an `Atomic` cannot be copied.
final class Counter: Sendable {
  private let value = Atomic<Int>(0)

  func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }

  var current: Int { value.load(ordering: .relaxed) }
}
