import Dispatch
import Foundation

/// The time, and a way to be called later. A test has its own.
package protocol ClientClock: Sendable {
  /// Milliseconds since 1970, as the system's clock shows them: it may be wrong, and it may jump.
  var milliseconds: Int64 { get }
  /// Milliseconds of a clock that only goes forward, from any origin: for waiting.
  var uptime: Int64 { get }
  /// Calls the closure once, `milliseconds` from now, on some thread. The timer that comes back ends it.
  func schedule(after milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> any ClientTimer
}

/// A call that was ordered for later.
package protocol ClientTimer: Sendable {
  /// The call does not happen, unless it has begun. May be called more than once.
  func cancel()
}

extension ClientClock {
  /// Waits; an ended task waits no longer.
  package func sleep(milliseconds: Int64) async throws {
    let waiting = Locked<(timer: (any ClientTimer)?, continuation: CheckedContinuation<Void, any Error>?)>((nil, nil))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting.withLock { $0.continuation = continuation }
        let timer = schedule(after: milliseconds) {
          waiting.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
          }?.resume()
        }
        waiting.withLock { $0.timer = timer }
        if Task.isCancelled { Self.end(waiting) }
      }
    } onCancel: {
      Self.end(waiting)
    }
  }

  private static func end(_ waiting: Locked<(timer: (any ClientTimer)?, continuation: CheckedContinuation<Void, any Error>?)>) {
    let (timer, continuation) = waiting.withLock { state in
      defer { state.continuation = nil }
      return (state.timer, state.continuation)
    }
    timer?.cancel()
    continuation?.resume(throwing: CancellationError())
  }
}

/// The system's clock.
package struct SystemClock: ClientClock {
  private static let queue = DispatchQueue(label: "doubloon.timers", qos: .utility)

  package init() {}

  package var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
  package var uptime: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  package func schedule(after milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> any ClientTimer {
    let item = DispatchWorkItem(block: work)
    Self.queue.asyncAfter(deadline: .now() + .milliseconds(Int(min(max(milliseconds, 0), 1 << 40))), execute: item)
    return SystemTimer(item: item)
  }
}

/// `@unchecked Sendable`: the work item is never changed, and Dispatch lets any thread cancel it.
private struct SystemTimer: ClientTimer, @unchecked Sendable {
  let item: DispatchWorkItem

  func cancel() { item.cancel() }
}
