import Credentials
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import Accounts

/// Work that was submitted, to be run by hand.
final class HeldWork: Sendable {
  private let held = Mutex<[@Sendable () -> Void]>([])
  var count: Int { held.withLock { $0.count } }

  var threads: OffLoopWork {
    OffLoopWork { [self] work in
      held.withLock { $0.append(work) }
      return true
    }
  }

  /// Runs the work that was submitted first; false if there is none.
  @discardableResult
  func runOne() -> Bool {
    guard let work = held.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    work()
    return true
  }

  /// Waits until something was submitted.
  func arrival() async {
    while count == 0 { await Task.yield() }
  }

  /// Waits until something was submitted, and runs it.
  func runNext() async {
    await arrival()
    runOne()
  }
}
