import AdminClient
import ArgumentParser
import ServerApp
import ServerConfiguration

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
      return (error as? CommandFailure)?.exitCode ?? 1
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
    case let failure as CommandFailure: failure.message
    case let failure as AdminClientError: failure.message
    case let error as FileError: error.message
    default: nil
    }
  }
}
