import APISupport
import AdminModel
import Backups
import HTTPServer

/// The copies of the store.
enum BackupRoutes {
  /// Copies that are listed.
  private static let copiesMax = 200

  static let routes: [Route] = [.reading(AdminOperation.backups, by: list)]

  private static func list(_ call: RouteCall, query _: NoQuery) throws -> AdminOperation.BackupList {
    let schedule = call.services.schedule
    let tried = call.services.metrics.maintenance.notes.copies.map { AdminOperation.BackupCopy($0) }
    let known = Set(tried.map(\.place))
    let found = (schedule?.copies(limit: copiesMax) ?? []).filter { !known.contains($0.place) }.map { copy in
      AdminOperation.BackupCopy(place: copy.place, time: Timestamp(copy.time), bytes: copy.bytes, scheduled: true)
    }
    let copies = (tried + found).sorted { $0.time > $1.time }
    return AdminOperation.BackupList(
      schedule: schedule?.settings.words, next: (schedule?.due).map { Timestamp($0) },
      retention: schedule?.settings.retention.map {
        AdminOperation.BackupRetention(last: Int64($0.last), daily: Int64($0.daily), weekly: Int64($0.weekly))
      }, copies: Array(copies.prefix(copiesMax)))
  }
}

extension AdminOperation.BackupCopy {
  fileprivate init(_ copy: MaintenanceRecord.Copy) {
    self.init(
      place: copy.place, time: Timestamp(copy.outcome.time - copy.outcome.duration), bytes: copy.bytes,
      durationMs: copy.outcome.duration, scheduled: copy.isScheduled,
      verified: copy.outcome.failure == nil ? copy.isVerified : nil, failure: copy.outcome.failure)
  }
}
