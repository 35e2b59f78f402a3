import APISupport
import AdminAPI
import ServerConfiguration
import StorageCore
import TextFormats
import TreeDatabase

/// Finds out what needs a person, from what others have seen already. It reads neither the store nor the disk.
struct AlertConditions: Sendable {
  let database: Database
  let watch: StoreWatch
  let maintenance: MaintenanceRecord
  let settings: AlertSettings

  /// What is wrong, each kind with a sentence that says what to do.
  ///
  /// - `machine`: what was seen of the machine at the same look.
  func found(on machine: MachineSight?, at now: Int64) -> [AlertKind: String] {
    var found: [AlertKind: String] = [:]
    if let failure = database.failure {
      let what = failure.code == .full ? "until the disk has room again" : "until the server is started again"
      found[.writerStopped] = "The writer has stopped, and nothing can be written \(what): \(failure.message)"
    }
    if let sight = watch.latest { look(at: sight, &found) }
    look(at: maintenance.notes, now: now, &found)
    if let machine { look(at: machine, now: now, &found) }
    return found
  }

  private func look(at sight: StoreWatch.Sight, _ found: inout [AlertKind: String]) {
    if !sight.deadLetters.isEmpty {
      let letters = sight.deadLetters.map { "\($0.function) on \($0.count), the last with: \($0.error)" }
      found[.deadLetters] =
        "Functions gave up on events: \(letters.joined(separator: "; ")). See \"doubloon triggers dead\"; correct the cause, "
        + "then retry or acknowledge them."
    }
    if !sight.paused.isEmpty {
      let functions = sight.paused.map { "\($0.function) (\($0.reason))" }
      found[.functionPaused] =
        "The events of these functions wait: \(functions.joined(separator: "; ")). Resume one with \"doubloon functions resume "
        + "NAME\"."
    }
  }

  private func look(at notes: MaintenanceRecord.Notes, now: Int64, _ found: inout [AlertKind: String]) {
    if let failure = notes.verification?.failure {
      found[.verificationFailed] =
        "The store is not what was written: \(failure). Stop the server, keep a copy of the data, and restore a backup."
    }
    if let failure = notes.backup?.failure {
      found[.backupFailed] = "The last backup failed: \(failure)"
    } else if let ageMax = settings.backupAgeMax, let last = notes.backupSuccessTime, now - last > ageMax {
      found[.backupFailed] = "The last backup is of \(CalendarTime(milliseconds: last).readable): look after what makes them."
    }
  }

  private func look(at machine: MachineSight, now: Int64, _ found: inout [AlertKind: String]) {
    if let disk = machine.disk, disk.freeBytes < settings.diskFreeMin {
      found[.diskLow] =
        "The disk of \(disk.folder) has \(disk.freeBytes >> 20) MB free of \(disk.totalBytes >> 20) MB: make space, or writes stop."
    }
    let ending = machine.certificates.filter { $0.validUntil - now < settings.certificateLeftMin }
    guard !ending.isEmpty else { return }
    let list = ending.map { "\($0.file) on \(CalendarTime(milliseconds: $0.validUntil).readable)" }
    found[.certificateExpiring] =
      "Certificates end: \(list.joined(separator: ", ")). Renew them; the server takes new files into use by itself."
  }
}
