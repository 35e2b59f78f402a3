import Backups

/// `backups`: when the server backs itself up, where to, for whom, and what of it is kept.
struct BackupSection: ConfigurationSection {
  private static let day: Int64 = 86_400_000

  /// Nil if something is wrong.
  let settings: BackupSettings?

  init(_ reader: ConfigurationReader) {
    let schedule = Self.schedule(reader)
    let destination = Self.destination(reader)
    let recipient = Self.recipient(reader)
    let retention = reader.optionalSection("keep", type: BackupKeepSection.self)?.retention
    if retention != nil, reader.has("command") {
      reader.report(
        "keep", message: "\"\(reader.path("keep"))\" is about a folder: what a command is given, the command keeps.")
    }
    let includesConfiguration = reader.flag("configuration") ?? false
    let timeout = reader.duration("timeout", range: 1000...86_400_000) ?? 3_600_000
    guard let schedule, let destination else {
      settings = nil
      return
    }
    settings = BackupSettings(
      schedule: schedule, destination: destination, recipient: recipient, retention: retention,
      includesConfiguration: includesConfiguration, timeout: timeout)
  }

  private static func schedule(_ reader: ConfigurationReader) -> BackupSchedule? {
    let every = reader.duration("every", range: 1000...366 * day) ?? day
    guard let text = reader.text("at") else { return BackupSchedule(every: every) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else {
      reader.report("at", message: "\"\(reader.path("at"))\" must be a time of day such as \"03:30\", by this machine's clock.")
      return nil
    }
    guard every % day == 0 else {
      reader.report(
        "every", message: "\"\(reader.path("every"))\" must be whole days such as \"1d\" where \"at\" names the time of day.")
      return nil
    }
    return BackupSchedule(every: every, minuteOfDay: hour * 60 + minute)
  }

  private static func destination(_ reader: ConfigurationReader) -> BackupSettings.Destination? {
    let folder = reader.path(of: "to")
    let command = reader.texts("command")
    switch (folder, command) {
    case (let folder?, nil): return .folder(folder)
    case (nil, let words?):
      guard let program = words.first, !program.isEmpty else {
        reader.report(
          "command", message: "\"\(reader.path("command"))\" is a list: the program, then its arguments. No shell reads it.")
        return nil
      }
      return .command(words)
    default:
      if !reader.has("to"), !reader.has("command") {
        reader.report(
          "to",
          message:
            "\"\(reader.path("to"))\" is missing: a folder such as \"/var/backups/doubloon\"; or give \"command\", whose "
            + "standard input gets the backup.")
      } else if reader.has("to"), reader.has("command") {
        reader.report("command", message: "Give \"to\" or \"command\", not both.")
      }
      return nil
    }
  }

  private static func recipient(_ reader: ConfigurationReader) -> BackupRecipient? {
    guard let text = reader.text("recipient") else { return nil }
    let recipient = BackupRecipient(text)
    if recipient == nil {
      reader.report(
        "recipient",
        message: "\"\(reader.path("recipient"))\" is no public key for backups; make a pair with \"doubloon backup-key FILE\".")
    }
    return recipient
  }
}

/// `backups.keep`: what stays in the folder.
struct BackupKeepSection: ConfigurationSection {
  let retention: BackupRetention

  init(_ reader: ConfigurationReader) {
    retention = BackupRetention(
      last: reader.integer("last", range: 1...10_000) ?? 3, daily: reader.integer("daily", range: 0...10_000) ?? 0,
      weekly: reader.integer("weekly", range: 0...10_000) ?? 0)
  }
}
