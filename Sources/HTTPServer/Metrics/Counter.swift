import Synchronization

/// A number that many threads add to.
///
/// A class, so that counters can stand in arrays: an `Atomic` cannot be copied.
package final class Counter: Sendable {
  private let value = Atomic<Int>(0)

  package init() {

  }

  package func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }

  package var current: Int { value.load(ordering: .relaxed) }
}
