/// Why a command could not do what it was asked for: it ends with exit code 1.
///
/// Bad usage is the parser's `ValidationError`, and ends with 2.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
  /// One sentence, with what to do.
  let message: String

  init(_ message: String) {
    self.message = message
  }

  var description: String { message }
}
