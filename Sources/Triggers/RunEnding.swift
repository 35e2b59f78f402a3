import StorageCore

/// How a run ended.
enum RunEnding: Sendable {
  /// Effects to commit, together with the execution record in the request.
  /// `leavesOutPaid` if a run on newer state may leave payments out that this one makes.
  case effect(CommitRequest, ExecutionRecord, leavesOutPaid: Bool)
  case skipped(String)
  case failed(String, Failure)

  enum Failure: Sendable {
    /// To be tried again by the function's policy.
    case retry
    /// To be tried again after this many milliseconds.
    case retryAfter(Int64)
    /// Trying again is useless.
    case permanent
  }
}
