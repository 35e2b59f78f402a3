/// What is set about scheduled backups.
package struct BackupSettings: Sendable {
  /// Where they go.
  package enum Destination: Sendable, Hashable {
    /// Files in a folder that is there already: one that is made could fill the disk that a mount was meant to keep free.
    case folder(String)
    /// The standard input of a command: the program and its arguments, in which `{name}` stands for the backup's name.
    case command([String])
  }

  /// When.
  package var schedule: BackupSchedule
  package var destination: Destination
  /// To whom they are sealed; nil leaves them open, and without keys.
  package var recipient: BackupRecipient?
  /// What is kept in a folder; nil keeps all.
  package var retention: BackupRetention?
  /// Whether the files of the configuration are in them.
  package var includesConfiguration: Bool
  /// How long a command may take, in milliseconds.
  package var timeout: Int64

  package init(
    schedule: BackupSchedule, destination: Destination, recipient: BackupRecipient? = nil,
    retention: BackupRetention? = nil, includesConfiguration: Bool = false, timeout: Int64 = 3_600_000
  ) {
    self.schedule = schedule
    self.destination = destination
    self.recipient = recipient
    self.retention = retention
    self.includesConfiguration = includesConfiguration
    self.timeout = timeout
  }

  /// When, where to and for whom, for people: `every 1d at 03:30 to /var/backups/doubloon, sealed to …`.
  package var words: String {
    let units: [(name: String, milliseconds: Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)]
    let unit = units.first { schedule.every % $0.milliseconds == 0 } ?? ("ms", 1)
    let time = schedule.minuteOfDay.map { minute in
      " at \(minute / 60 < 10 ? "0" : "")\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
    }
    let place =
      switch destination {
      case .folder(let folder): folder
      case .command(let words): "the command \(words[0])"
      }
    let seal = recipient.map { "sealed to \($0.shortText)" } ?? "NOT sealed, without the keys of players' tokens"
    return "every \(schedule.every / unit.milliseconds)\(unit.name)\(time ?? "") to \(place), \(seal)"
  }

  /// Where a backup of that name is.
  func place(of name: BackupName) -> String {
    if case .folder(let folder) = destination { "\(folder)/\(name.text)" } else { name.text }
  }

  var contents: BackupContents {
    BackupContents(recipient: recipient, includesKeys: recipient != nil, includesConfiguration: includesConfiguration)
  }
}

/// What came of one scheduled backup, for metrics and alerts.
package struct BackupReport: Sendable, Hashable {
  /// How it ended.
  package enum Result: Sendable, Hashable {
    /// Written, and in a folder read again; its size in bytes.
    case made(bytes: Int64)
    /// Why not, in a sentence that holds no secret.
    case failed(String)
  }

  /// When it was begun, in milliseconds since 1970.
  package let time: Int64
  /// How long it took, in milliseconds.
  package let duration: Int64
  /// Where it is: its file, or the name that the command was given.
  package let place: String
  package let result: Result
}
