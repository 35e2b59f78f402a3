import Synchronization

/// How many refusals of strangers the audit log takes: whoever has no credentials must not be able to fill the disk.
///
/// One for the whole server; a refusal that is left out is counted, and the next row that is taken says how many were.
final class StrangerQuota: Sendable {
  /// Rows a minute.
  static let rowsPerMinute = 10

  private struct State {
    var minute: Int64 = .min
    var rows = 0
    var leftOut: Int64 = 0
  }

  private let state = Mutex(State())

  /// Counts one refusal.
  ///
  /// - Parameter now: in milliseconds since 1970.
  /// - Returns: how many were left out since the last row, if this one is taken; nil if it is left out.
  func take(at now: Int64) -> Int64? {
    state.withLock { state in
      let minute = now / 60_000
      if minute != state.minute { (state.minute, state.rows) = (minute, 0) }
      guard state.rows < Self.rowsPerMinute else {
        state.leftOut += 1
        return nil
      }
      state.rows += 1
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}
