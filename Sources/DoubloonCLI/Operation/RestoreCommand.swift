import AdminClient
import AdminModel
import ArgumentParser
import Backups
import ServerConfiguration
import StorageCore
import StorageSQLite
import TextFormats
import TreeModel

/// `doubloon restore`: makes a data folder of a backup, or only tries it.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a data folder of a backup, and verify it.",
    discussion: """
      The folder must be a new one, or empty; no server is needed. Everything in it is checked, as by "doubloon verify"; it \
      ends with exit code 1 if something is wrong. A backup that is damaged, or that what you give does not open, leaves \
      nothing behind. What happens afterwards has other event ids than what was lost, so nothing is mistaken for something \
      that was paid already.

      --verify-only does the same in a temporary folder, which it removes, and says what it found: a drill for every night.

      --at goes back to an earlier moment of the backup: what was committed later is gone, and events that were pending at \
      that moment run again, once each. Accounts, sessions, links, invitations, rules and the audit log have no past: they \
      stay as they are in the backup.

      Examples:
        doubloon restore doubloon-monday.backup --data restored --key backup.key
        doubloon restore doubloon-monday.backup --verify-only --passphrase-file passphrase
        doubloon restore doubloon-monday.backup --data restored --at "2026-11-23 18:00"
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("The folder to make.", valueName: "dir"))
  var data: String?

  @Flag(help: "Only try it: unpack, check and verify it in a temporary folder (TMPDIR, else /var/tmp), and remove that.")
  var verifyOnly = false

  @Option(
    help: ArgumentHelp("Go back to this moment: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

  @Option(
    name: .customLong("ns"), help: ArgumentHelp("The namespace of the revision, where there are several.", valueName: "name"))
  var namespace: String?

  @OptionGroup(title: "Opening")
  var opening: BackupOpeningOptions

  @OptionGroup
  var output: OutputOptions

  mutating func validate() throws {
    guard (data == nil) == verifyOnly else {
      throw ValidationError("Name the folder to make with --data, or say --verify-only.")
    }
  }

  func run() async throws {
    guard FileBytes.exists(file), !FileBytes.isFolder(file) else {
      throw CommandError("There is no backup \(file).")
    }
    let folder = try unpack()
    do {
      let report = try await verify(folder)
      if verifyOnly { folder.remove() } else { try folder.commit() }
      try say(report, of: folder)
    } catch let error as BackupError {
      folder.remove()
      throw CommandError(error.message)
    } catch {
      // What was made and found unsound stays: it may be the only copy.
      if verifyOnly || !(error is ExitCode) { folder.remove() }
      throw error
    }
  }

  private func unpack() throws -> RestoredFolder {
    let moment = at.map { moment -> StoreMoment in
      switch moment {
      case .revision(let number): .revision(Revision(number), namespace: namespace)
      case .time(let point): .time(point.milliseconds)
      }
    }
    let reason: String
    do {
      return try RestoredFolder(of: file, to: data, opener: try opening.opener(), moment: moment)
    } catch let error as BackupError {
      reason = error.message
    } catch let error as StorageError {
      reason = error.message
    }
    let what = data.map { "was not restored into \($0)" } ?? "cannot be restored"
    throw CommandError("\(file) \(what): \(reason)")
  }

  private func verify(_ folder: RestoredFolder) async throws -> AdminAnswer<AdminSystem.Verification> {
    // What the store says when it is opened again, as a server will have it.
    try await ServerOptions.withApplication(on: folder.path) { client in
      try await client.call(AdminSystem.verify, timeout: ReplayStartCommand.longTimeout)
    }
  }

  private func say(_ report: AdminAnswer<AdminSystem.Verification>, of folder: RestoredFolder) throws {
    var answer: [JSON.Member] = [
      .init(key: "epoch", value: .int(folder.epoch)), .init(key: "verification", value: report.json),
      .init(key: "keys", value: .bool(folder.manifest?.holdsKeys ?? false)),
    ]
    if let data { answer.insert(.init(key: "data", value: .string(FileBytes.absolute(data))), at: 0) }
    if let manifest = folder.manifest {
      answer.append(.init(key: "store", value: .string(manifest.store)))
      answer.append(.init(key: "time", value: .int(manifest.time)))
    }
    output.print(.object(answer)) { _ in lines(report.value, of: folder).joined(separator: "\n") }
    guard report.value.sound else { throw ExitCode(1) }
  }

  private func lines(_ report: AdminSystem.Verification, of folder: RestoredFolder) -> [String] {
    var lines: [String] = []
    if let data {
      lines.append("Restored \(file) into \(data), epoch \(folder.epoch).")
    } else {
      lines.append("\(file) can be restored\(report.sound ? "" : ", but is NOT SOUND"). Nothing of it is left here.")
    }
    lines += VerifyCommand.lines(report)
    if let manifest = folder.manifest {
      lines.append("It was made at \(CalendarTime(milliseconds: manifest.time).readable).")
      lines += manifest.namespaces.map { "\($0.name) stood at revision \($0.revision) in it." }
    }
    if folder.manifest?.holdsKeys != true {
      lines.append(
        "The keys that sign players' tokens are not in it: copy DATA/keys of the old data to \(data ?? "DATA")/keys, or "
          + "players have to sign in again.")
    }
    if folder.manifest?.holdsConfiguration == true, let data {
      lines.append("The configuration that it was made under is in \(data)/configuration.")
    }
    return lines
  }
}
