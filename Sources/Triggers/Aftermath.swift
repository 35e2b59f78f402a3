import Logging

/// What is to be done once the dispatcher's state is unlocked.
struct Aftermath {
  var submissions: [Submission] = []
  /// Waiters whose wait is over, and whether what they waited for has happened.
  var released: [(waiter: CheckedContinuation<Bool, Never>, isReady: Bool)] = []
  /// Waiters for the records of a paused function.
  var parked: [CheckedContinuation<Void, Never>] = []
  /// Who waited for the runners to end.
  var stopped: CheckedContinuation<Void, Never>?
  var remarks: [(Logger.Level, Logger.Message)] = []
  /// Whether a runner without work is to be woken.
  var wakesRunner = false
  /// Whether the time to wake at is earlier than it was.
  var ringsAlarm = false
}
