import AdminClient
import AdminModel
import ArgumentParser
import Backups
import NIOCore
import ServerConfiguration
import TreeModel

/// `doubloon backup`: has the server write a backup into one file.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy everything into one file, while others go on writing.",
    discussion: """
      The server writes the file, on its own machine: tree, log, ledger and what waits, of all namespaces, as of one \
      moment, with a digest of each part. The server's user alone can read it, and it cannot be in the data folder. \
      "doubloon restore" makes a data folder of it, "doubloon restore --verify-only" tries it.

      The keys that sign players' tokens are in it if it is sealed, to a key of "doubloon backup-key" or with a passphrase: \
      anyone who reads them can be any player. Without them players have to sign in again after a restore.

      Examples:
        doubloon backup /var/backups/doubloon-monday.backup --recipient backup.pub
        doubloon backup before-update.backup --passphrase-file passphrase
        doubloon backup copy.backup --data .doubloon
      """)

  @Argument(help: ArgumentHelp("The file to write; an earlier backup of that name is replaced.", valueName: "file"))
  var file: String

  @OptionGroup(title: "Sealing")
  var seal: BackupSealOptions

  @Flag(
    inversion: .prefixedNo, help: "Put the keys that sign players' tokens into it. (default: if it is sealed)")
  var keys: Bool?

  @Flag(help: "Put the files of the server's configuration into it; secrets are not in them.")
  var withConfiguration = false

  @Flag(help: "Write the store's own file, a database of SQLite, and nothing else.")
  var bare = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard bare, seal.isGiven || keys == true || withConfiguration else { return }
    throw ValidationError("--bare is the store's file as it is: it cannot be sealed, and holds nothing else.")
  }

  func run() async throws {
    let path = FileBytes.absolute(file)
    let order = AdminSystem.BackupOrder(
      path: path, recipient: try seal.sought()?.text, keys: keys, configuration: withConfiguration ? true : nil,
      bare: bare ? true : nil)
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminSystem.backup, body: order, timeout: .hours(1))
    }
    output.print(answer) { Self.words($0, path: path) }
  }

  private static func words(_ backup: AdminSystem.Backup, path: String) -> String {
    var lines = ["The backup is in \(path)."]
    if let isSealed = backup.sealed, let holdsKeys = backup.keys, let bytes = backup.bytes {
      lines.append(
        isSealed
          ? "It has \(bytes) bytes and is sealed: without the private key, or the passphrase, nobody can read it."
          : "It has \(bytes) bytes and is not sealed: anyone who can read the file can read everything in it.")
      lines.append(
        holdsKeys
          ? "The keys that sign players' tokens are in it."
          : "The keys that sign players' tokens are not in it: seal it, or players have to sign in again after a restore.")
    }
    return lines.joined(separator: "\n")
  }
}

/// `doubloon backup-key`: makes a key pair that backups are sealed to.
struct BackupKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup-key",
    abstract: "Make a key pair that backups are sealed to.",
    discussion: """
      The private key goes into a new file that its owner alone can read: keep it apart from the server and from the \
      backups, and keep it twice, for without it they cannot be read. The public key is printed: it is no secret, and goes \
      to "doubloon backup --recipient" and to "backups.recipient" of the configuration.

      With --passphrase-file no file is written: the public key printed is the passphrase's, for scheduled backups that it \
      is to open.

      Examples:
        doubloon backup-key backup.key > backup.pub
        doubloon backup-key --passphrase-file passphrase
      """)

  @Argument(help: ArgumentHelp("The file to make for the private key.", valueName: "file"))
  var file: String?

  @Option(help: ArgumentHelp("A file with a passphrase in its only line; - is the standard input.", valueName: "file"))
  var passphraseFile: String?

  @OptionGroup
  var output: OutputOptions

  mutating func validate() throws {
    guard (file == nil) != (passphraseFile == nil) else {
      throw ValidationError("Name a file for the private key, or give --passphrase-file.")
    }
  }

  func run() async throws {
    let recipient: BackupRecipient
    if let file {
      let identity = BackupIdentity.generate()
      try FileBytes.writeSecret(Array(identity.fileText.utf8), to: file)
      recipient = identity.recipient
      if !output.json { DoubloonCommandLine.output.error("The private key is in \(file). Keep it apart from the backups.") }
    } else {
      recipient = try BackupSealOptions.recipient(ofPassphraseIn: passphraseFile ?? "-")
    }
    output.print(["recipient": .string(recipient.text)]) { _ in recipient.text }
  }
}
