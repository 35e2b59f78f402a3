/// Why a command could not do what it was asked for: it ends with exit code 1, or another that it names.
///
/// Bad usage is the parser's `ValidationError`, and ends with 2.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
  /// One sentence, with what to do.
  let message: String
  let exitCode: Int32

  init(_ message: String, exitCode: Int32 = 1) {
    self.message = message
    self.exitCode = exitCode
  }

  var description: String { message }
}
