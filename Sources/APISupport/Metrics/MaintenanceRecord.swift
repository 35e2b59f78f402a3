import Synchronization

/// What the last verifications and backups came to: for the metrics, and for alerts.
///
/// Whatever verifies the store or copies it notes here how that ended; nothing is read from the disk for it, so after a start it
/// is not known until the next one. `doubloon_backup_success_time_seconds` therefore is missing, and not 0, until then.
package final class MaintenanceRecord: Sendable {
  /// How one kind of work ended last.
  package struct Outcome: Sendable, Hashable {
    /// When it ended, in milliseconds since 1970.
    package let time: Int64
    /// How long it took, in milliseconds.
    package let duration: Int64
    /// What went wrong, in a sentence; nil if nothing did.
    package let failure: String?

    package init(time: Int64, duration: Int64, failure: String? = nil) {
      self.time = time
      self.duration = duration
      self.failure = failure
    }
  }

  /// A copy that was made, or tried.
  package struct Copy: Sendable, Hashable {
    /// Where it is, or was to be.
    package let place: String
    package let outcome: Outcome
    package let bytes: Int64?
    package let isScheduled: Bool
    /// Whether it was read again and found whole.
    package let isVerified: Bool

    package init(place: String, outcome: Outcome, bytes: Int64? = nil, isScheduled: Bool = false, isVerified: Bool = false) {
      self.place = place
      self.outcome = outcome
      self.bytes = bytes
      self.isScheduled = isScheduled
      self.isVerified = isVerified
    }
  }

  /// Copies that are remembered.
  private static let copiesMax = 100

  /// Everything that was noted.
  package struct Notes: Sendable, Hashable {
    /// The last verification.
    package fileprivate(set) var verification: Outcome?
    /// What it found wrong.
    package fileprivate(set) var verificationFaults = 0
    /// Verifications since the start.
    package fileprivate(set) var verifications = 0
    /// The last backup, successful or not.
    package fileprivate(set) var backup: Outcome?
    /// When the last one ended that was whole, in milliseconds since 1970.
    package fileprivate(set) var backupSuccessTime: Int64?
    /// Bytes of that one, if somebody has said so.
    package fileprivate(set) var backupBytes: Int64?
    /// Backups since the start, and how many of them failed.
    package fileprivate(set) var backups = 0
    package fileprivate(set) var backupFailures = 0
    /// The last copies, the newest last.
    package fileprivate(set) var copies: [Copy] = []
  }

  private let state = Mutex(Notes())

  package init() {}

  package var notes: Notes { state.withLock(\.self) }

  /// Notes how a verification ended.
  ///
  /// - `faults`: how many it has found; 0 for a sound store.
  package func noteVerification(_ outcome: Outcome, faults: Int) {
    state.withLock { state in
      (state.verification, state.verificationFaults) = (outcome, faults)
      state.verifications += 1
    }
  }

  /// Notes how a backup ended.
  ///
  /// - `bytes`: its size; nil if that is not known.
  package func noteBackup(_ outcome: Outcome, bytes: Int64? = nil) {
    state.withLock { state in
      state.backup = outcome
      state.backups += 1
      if outcome.failure == nil {
        (state.backupSuccessTime, state.backupBytes) = (outcome.time, bytes)
      } else {
        state.backupFailures += 1
      }
    }
  }

  /// Notes a copy that was made or tried.
  package func noteCopy(_ copy: Copy) {
    noteBackup(copy.outcome, bytes: copy.bytes)
    state.withLock { state in
      state.copies.append(copy)
      if state.copies.count > Self.copiesMax { state.copies.removeFirst() }
    }
  }

  /// Takes over from a place that outlives the process, such as a scheduler's own record, when the last whole backup was made;
  /// one that was noted since counts more.
  package func recallBackup(endedAt time: Int64, bytes: Int64? = nil) {
    state.withLock { state in
      guard state.backupSuccessTime.map({ $0 < time }) ?? true else { return }
      (state.backupSuccessTime, state.backupBytes) = (time, bytes)
    }
  }
}

extension MaintenanceRecord.Notes {
  /// The notes as metrics.
  package var families: [MetricFamily] {
    func seconds(_ milliseconds: Int64?) -> Double? { milliseconds.map { Double($0) / 1000 } }
    func verdict(_ outcome: MaintenanceRecord.Outcome?) -> Double? { outcome.map { $0.failure == nil ? 1 : 0 } }
    return [
      .counter("doubloon_verifications_total", help: "Verifications of the store that ended.", value: verifications),
      .gauge(
        "doubloon_verification_time_seconds", help: "When the last verification ended, in seconds since 1970.",
        value: seconds(verification?.time)),
      .gauge(
        "doubloon_verification_seconds", help: "How long the last verification took.", value: seconds(verification?.duration)),
      .gauge(
        "doubloon_verification_sound", help: "1 if the last verification found nothing wrong, else 0.",
        value: verdict(verification)),
      .gauge("doubloon_verification_faults", help: "What the last verification found wrong.", value: verificationFaults),
      .counter("doubloon_backups_total", help: "Backups that ended, whole or not.", value: backups),
      .counter("doubloon_backup_failures_total", help: "Backups that failed.", value: backupFailures),
      .gauge(
        "doubloon_backup_time_seconds", help: "When the last backup ended, whole or not, in seconds since 1970.",
        value: seconds(backup?.time)),
      .gauge(
        "doubloon_backup_success_time_seconds", help: "When the last whole backup ended, in seconds since 1970.",
        value: seconds(backupSuccessTime)),
      .gauge("doubloon_backup_seconds", help: "How long the last backup took.", value: seconds(backup?.duration)),
      .gauge("doubloon_backup_ok", help: "1 if the last backup was whole, 0 if it failed.", value: verdict(backup)),
      .gauge("doubloon_backup_bytes", help: "Bytes of the last whole backup.", value: backupBytes.map(Double.init)),
    ]
  }
}
