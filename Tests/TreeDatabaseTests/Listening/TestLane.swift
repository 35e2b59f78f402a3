#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Dispatch
import Synchronization
import TreeDatabase

/// A lane that runs its work when the test says so, on the test's own thread, or at once on a queue of its own.
final class TestLane: DeliveryLane, Sendable {
  private let queue = DispatchQueue(label: "lane")

  var identity: ObjectIdentifier { ObjectIdentifier(self) }

  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Runs something on the lane and waits for it.
  func sync<T>(_ work: () throws -> T) rethrows -> T { try queue.sync(execute: work) }

  /// Holds everything up until the result is called.
  func block() -> @Sendable () -> Void {
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    return { gate.signal() }
  }
}
