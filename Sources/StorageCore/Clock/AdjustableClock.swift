import Synchronization

/// A clock that can be moved: by tests, and by `/admin/v1/clock` in `doubloon dev`.
///
/// Made with a start time it stands still until it is moved; made without one it runs with the machine's clock, shifted.
/// Sleepers whose time has come are woken, in the order of their times.
public final class AdjustableClock: WallClock {
  private struct Sleeper {
    let id: Int
    let time: Int64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var frozen: Int64?
    var shift: Int64 = 0
    var sleepers: [Sleeper] = []
    var nextID = 0
  }

  private let system = SystemClock()
  private let state: Mutex<State>

  /// - Parameter start: milliseconds since 1970 at which the clock stands still; nil lets it run.
  public init(frozenAt start: Int64? = nil) {
    state = Mutex(State(frozen: start))
  }

  public func now() -> Int64 {
    state.withLock { $0.frozen ?? system.now() + $0.shift }
  }

  /// How many are asleep: a test waits for this before it moves the clock.
  public var sleeperCount: Int { state.withLock(\.sleepers.count) }

  /// Sets the clock back, as someone does to one that ran ahead. Sleepers sleep on.
  public func setBack(by milliseconds: Int64) {
    precondition(milliseconds >= 0, "Setting back by \(milliseconds) ms would be forward.")
    state.withLock { state in
      if let frozen = state.frozen { state.frozen = frozen - milliseconds } else { state.shift -= milliseconds }
    }
  }

  /// Moves the clock forward.
  public func advance(by milliseconds: Int64) {
    precondition(milliseconds >= 0, "Time only goes forward; \(milliseconds) ms is negative.")
    let due = state.withLock { state -> [Sleeper] in
      if let frozen = state.frozen { state.frozen = frozen + milliseconds } else { state.shift += milliseconds }
      let now = state.frozen ?? system.now() + state.shift
      let due = state.sleepers.filter { $0.time <= now }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
      state.sleepers.removeAll { $0.time <= now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  public func sleep(until time: Int64) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let runs = state.withLock { $0.frozen == nil }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.park(id, until: time) }
      if runs {
        group.addTask {
          let wait = time - self.now()
          if wait > 0 { try await Task.sleep(for: .milliseconds(wait)) }
          self.wake(id, throwing: nil)
        }
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private func park(_ id: Int, until time: Int64) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let ready = state.withLock { state -> Bool in
          if Task.isCancelled || (state.frozen ?? system.now() + state.shift) >= time { return true }
          state.sleepers.append(Sleeper(id: id, time: time, continuation: continuation))
          return false
        }
        if ready { continuation.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      wake(id, throwing: CancellationError())
    }
  }

  private func wake(_ id: Int, throwing error: (any Error)?) {
    let sleeper = state.withLock { state -> Sleeper? in
      guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
      return state.sleepers.remove(at: index)
    }
    guard let sleeper else { return }
    if let error { sleeper.continuation.resume(throwing: error) } else { sleeper.continuation.resume() }
  }
}

/// The one source of time. Injected everywhere, so that tests move it instead of waiting.
public protocol WallClock: Sendable {
  /// Milliseconds since 1970.
  func now() -> Int64
  /// Returns once `now()` has reached `time`; throws `CancellationError` if the task is cancelled first.
  func sleep(until time: Int64) async throws
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine's clock.
public struct SystemClock: WallClock {
  public init() {}

  public func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  public func sleep(until time: Int64) async throws {
    let wait = time - now()
    if wait > 0 { try await Task.sleep(for: .milliseconds(wait)) }
  }
}
