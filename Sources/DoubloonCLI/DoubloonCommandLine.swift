import AdminClient
public import ArgumentParser
import FunctionsKit
import ServerApp
import ServerConfiguration
package import StorageCore

/// The root of the command line: `doubloon`, and everything below it.
public struct DoubloonCommandLine: AsyncParsableCommand {
  /// The deployment's functions, for commands that start a server in their own process. `DoubloonServer.main` binds it.
  @TaskLocal package static var functions = FunctionRegistration { _ in }

  /// The schema that stores are to have; a test has one that never was.
  @TaskLocal package static var schema = SchemaHistory.released

  /// Where commands print.
  @TaskLocal package static var output = CommandOutput.standard

  /// Who is asked before something is done that cannot be undone.
  @TaskLocal static var question = CommandQuestion.terminal

  /// The name, the help text, and the commands in it.
  public static let configuration = CommandConfiguration(
    commandName: "doubloon",
    abstract: "A self-hosted referral rewards engine: a realtime tree, functions, and a ledger that pays once.",
    discussion: """
      Start with "doubloon dev": it serves on http://127.0.0.1:9000 and keeps its data in .doubloon/.
      The other commands talk to a running server (--server, --key; or DOUBLOON_SERVER and DOUBLOON_KEY in the \
      environment), or open a data folder that no server has open (--data).

      A first look around:
        doubloon dev
        doubloon data set /users/alice '{"referred_by":"bob","level":4}'
        doubloon data set /users/alice/level 5
        doubloon why alice
        doubloon triggers list
        doubloon ledger statement bob

      Exit codes: 0 done, 1 the thing asked for failed, 2 bad usage, a faulty configuration, or data \
      of a newer version.
      """,
    version: ProgramVersion.text,
    groupedSubcommands: [
      CommandGroup(name: "Serving", subcommands: [DevCommand.self, ServeCommand.self, ConfigCommand.self]),
      CommandGroup(name: "A game of your own", subcommands: [GamePackageCommand.self]),
      CommandGroup(name: "The tree", subcommands: [DataCommand.self, RulesCommand.self]),
      CommandGroup(name: "Players", subcommands: [AccountsCommand.self]),
      CommandGroup(
        name: "Rewards",
        subcommands: [
          WhyCommand.self, FindCommand.self, TriggersCommand.self, ReplayCommand.self, LedgerCommand.self,
          ReferralsCommand.self,
          FunctionsCommand.self,
        ]),
      CommandGroup(name: "Invitations", subcommands: [LinksCommand.self, InvitesCommand.self]),
      CommandGroup(name: "In-app messages", subcommands: [MessagesCommand.self]),
      CommandGroup(
        name: "Operation",
        subcommands: [
          StatusCommand.self, SeriesCommand.self, NamespacesCommand.self, DrainCommand.self, AuditCommand.self,
          LogCommand.self, VerifyCommand.self, BackupsCommand.self,
          BackupCommand.self, BackupKeyCommand.self, RestoreCommand.self, RecoverCommand.self, UpgradeCommand.self,
          ServiceAccountCommand.self, SessionsCommand.self, ClusterCommand.self, MoveCommand.self,
        ]),
    ]
  )

  /// What the parser makes before it reads the arguments.
  public init() {}
}

extension DoubloonCommandLine {
  /// Runs what the arguments ask for, prints what went wrong, and says how the process should end: 0 done, 1 the thing
  /// asked for failed, 2 bad usage.
  ///
  /// - Parameter arguments: without the program's name; nil takes the process's own.
  public static func execute(_ arguments: [String]? = nil) async -> Int32 {
    let words = arguments ?? Array(CommandLine.arguments.dropFirst())
    do {
      var command = try await asyncParseAsRoot(words.map(NegativeNumber.protected))
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return 0
    } catch {
      return report(error, of: words)
    }
  }

  /// Prints an error, or the help that was asked for, and finds its exit code.
  private static func report(_ error: any Error, of words: [String]) -> Int32 {
    if let sentence = sentence(for: error) {
      output.error("Error: \(sentence.printable)")
      return (error as? CommandError)?.exitCode ?? 1
    }
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    if code.isSuccess {
      output.line(message)
    } else if !message.isEmpty {
      output.error(message)
      if let suggestion = CommandSuggestion.text(for: words, below: Self.self) { output.error(suggestion) }
    }
    // The parser ends bad usage with 64, the number of BSD's sysexits.
    return code == .validationFailure ? 2 : code.rawValue
  }

  /// The sentence of a failure that is not the parser's own.
  private static func sentence(for error: any Error) -> String? {
    switch error {
    case let error as CommandError: error.message
    case let error as AdminClientError: error.message
    case let error as FileError: error.message
    default: nil
    }
  }
}

/// Why a command could not do what it was asked for: it ends with exit code 1, or another that it names.
///
/// Bad usage is the parser's `ValidationError`, and ends with 2.
struct CommandError: Error, Sendable, CustomStringConvertible {
  /// One sentence, with what to do.
  let message: String
  let exitCode: Int32

  init(_ message: String, exitCode: Int32 = 1) {
    self.message = message
    self.exitCode = exitCode
  }

  /// Why a server does not start: with 2 where starting again would not help.
  init(starting error: any Error) {
    self.init("The server cannot run: \(error)", exitCode: Self.isNewerSchema(error) ? 2 : 1)
  }

  /// Why a data folder is not opened: with 2 where only another version of the program can.
  init(opening folder: String, error: any Error) {
    self.init("\(folder) cannot be opened: \(error)", exitCode: Self.isNewerSchema(error) ? 2 : 1)
  }

  private static func isNewerSchema(_ error: any Error) -> Bool { (error as? StorageError)?.code == .newerSchema }

  var description: String { message }
}

/// What somebody probably meant who misspelt a command.
enum CommandSuggestion {
  /// `Did you mean "doubloon status"?`; nil if the words lead to a command, or to nothing like one.
  static func text(for words: [String], below root: any ParsableCommand.Type) -> String? {
    var command = root
    var path = [name(of: root)]
    for word in words {
      guard !word.hasPrefix("-") else { return nil }
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty else { return nil }
      guard let next = subcommands.first(where: { name(of: $0) == word || $0.configuration.aliases.contains(word) }) else {
        let nearest = NearestName.of(word, in: subcommands.map(name(of:)))
        return nearest.map { "Did you mean \"\((path + [$0]).joined(separator: " "))\"?" }
      }
      path.append(name(of: next))
      command = next
    }
    return nil
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? "\(command)".lowercased()
  }
}

/// Numbers below zero among the words of a command line.
///
/// The parser takes every word that begins with a hyphen for an option. With a space before it a number is taken for what it
/// is, and everything that reads numbers passes over the space.
enum NegativeNumber {
  /// The word as the parser is to see it.
  static func protected(_ word: String) -> String {
    word.hasPrefix("-") && Double(word) != nil && word.utf8.dropFirst().first.map(isNumeric) == true ? " \(word)" : word
  }

  /// Reads an integer that may have been protected.
  static func integer(_ word: String) throws -> Int64 {
    guard let number = Int64(word.drop { $0 == " " }) else {
      throw ValidationError("\"\(word.drop { $0 == " " })\" is no integer.")
    }
    return number
  }

  /// Not `-inf` and `-nan`, which are no JSON.
  private static func isNumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
  }
}
