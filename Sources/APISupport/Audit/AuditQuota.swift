import Synchronization

/// How many records of one kind the audit log takes in a minute, so that nobody fills the disk with them.
///
/// What is left out is counted, and the next record that is taken says how much it was.
final class AuditQuota: Sendable {
  private struct State {
    var minute: Int64 = .min
    var rows = 0
    var leftOut: Int64 = 0
  }

  private let rowsPerMinute: Int
  private let state = Mutex(State())

  init(rowsPerMinute: Int) {
    self.rowsPerMinute = rowsPerMinute
  }

  /// Counts one record.
  ///
  /// - Parameter now: in milliseconds since 1970.
  /// - Returns: how many were left out since the last one, if this one is taken; nil if it is left out.
  func take(at now: Int64) -> Int64? {
    state.withLock { state in
      let minute = now / 60_000
      if minute != state.minute { (state.minute, state.rows) = (minute, 0) }
      guard state.rows < rowsPerMinute else {
        state.leftOut += 1
        return nil
      }
      state.rows += 1
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}
