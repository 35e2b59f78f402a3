/// The one source of time. Injected everywhere, so that tests move it instead of waiting.
public protocol WallClock: Sendable {
  /// Milliseconds since 1970.
  func now() -> Int64
  /// Returns once `now()` has reached `time`; throws `CancellationError` if the task is cancelled first.
  func sleep(until time: Int64) async throws
}
