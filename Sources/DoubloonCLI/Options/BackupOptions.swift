import ArgumentParser
import Backups
import ServerConfiguration

/// To whom a backup is sealed.
struct BackupSealOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Seal it to this public key of \"doubloon backup-key\", or the one in a file.", valueName: "key|file"))
  var recipient: String?

  @Option(
    help: ArgumentHelp("Seal it with the passphrase in this file's only line; - is the standard input.", valueName: "file"))
  var passphraseFile: String?

  mutating func validate() throws {
    if recipient != nil, passphraseFile != nil {
      throw ValidationError("--recipient and --passphrase-file exclude each other: a backup is sealed once.")
    }
  }

  var isGiven: Bool { recipient != nil || passphraseFile != nil }

  /// The public key; nil where the backup stays open.
  ///
  /// - Throws: ``CommandError`` if what was given holds none.
  func sought() throws -> BackupRecipient? {
    if let passphraseFile { return try Self.recipient(ofPassphraseIn: passphraseFile) }
    guard let text = recipient else { return nil }
    if let recipient = BackupRecipient(text) { return recipient }
    guard FileBytes.exists(text), !FileBytes.isFolder(text) else {
      throw CommandError("\(text) is no public key for backups and no file; make a pair with \"doubloon backup-key FILE\".")
    }
    let content = String(decoding: try FileBytes.read(text), as: UTF8.self)
    guard let recipient = BackupRecipient(content) else {
      throw CommandError("\(text) holds no public key for backups; make a pair with \"doubloon backup-key FILE\".")
    }
    return recipient
  }

  /// The public key of a passphrase, with a fresh salt. The passphrase itself goes nowhere.
  static func recipient(ofPassphraseIn file: String) throws -> BackupRecipient {
    var random = SystemRandomNumberGenerator()
    let stretch = PassphraseStretch(using: &random)
    do {
      return try BackupIdentity(passphrase: try BackupOpeningOptions.passphrase(in: file), stretch: stretch).recipient
    } catch let error as BackupError {
      throw CommandError(error.message)
    }
  }
}

/// What opens a backup that is sealed.
struct BackupOpeningOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The private key that it was sealed to.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp("A file with the passphrase in its only line; - is the standard input.", valueName: "file"))
  var passphraseFile: String?

  mutating func validate() throws {
    if key != nil, passphraseFile != nil { throw ValidationError("--key and --passphrase-file exclude each other.") }
  }

  /// - Throws: ``CommandError`` if a file holds no key, or no passphrase.
  func opener() throws -> BackupOpener {
    if let passphraseFile { return .passphrase(try Self.passphrase(in: passphraseFile)) }
    guard let key else { return .none }
    guard let identity = BackupIdentity(String(decoding: try FileBytes.read(key), as: UTF8.self)) else {
      throw CommandError("\(key) holds no private key for backups, as \"doubloon backup-key FILE\" makes one.")
    }
    return .identity(identity)
  }

  /// The one line of a file; editors end it with a line break, which is not part of it.
  static func passphrase(in file: String) throws -> [UInt8] {
    let lines = try FileBytes.read(file).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard lines.count == 1 else { throw CommandError("\(file) must hold the passphrase on one line, and nothing else.") }
    return Array(lines[0])
  }
}
