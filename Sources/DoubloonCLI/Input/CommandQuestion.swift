import Glibc

/// Asks the person at the terminal whether to go on.
///
/// A struct around the closure, so that it can be bound for a test.
struct CommandQuestion: Sendable {
  /// The person's answer; nil if nobody is there to ask.
  let ask: @Sendable (String) -> Bool?

  /// Asks on the terminal; in a pipe nobody is there.
  static let terminal = CommandQuestion { question in
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
    DoubloonCommandLine.output.err(Array("\(question) [y/N] ".utf8))
    let answer = readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }

  /// Whether to go on; fails where nobody can be asked.
  func confirm(_ question: String) throws -> Bool {
    guard let answer = ask(question) else {
      throw CommandFailure("Nobody is there to be asked; look at what is printed above, and go on with --yes.")
    }
    return answer
  }
}
