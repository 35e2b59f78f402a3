import Glibc

/// Where a command prints: results to one side, errors and progress to the other.
struct CommandOutput: Sendable {
  /// Takes results.
  let out: @Sendable ([UInt8]) -> Void
  /// Takes errors, notes and progress.
  let err: @Sendable ([UInt8]) -> Void
  /// Whether a person sees the progress: long work is quiet in a pipe.
  let showsProgress: Bool

  /// The process's own streams.
  static let standard = CommandOutput(
    out: { write($0, to: STDOUT_FILENO) }, err: { write($0, to: STDERR_FILENO) }, showsProgress: isatty(STDERR_FILENO) == 1)

  /// Prints a line of the result.
  func line(_ text: String) { out(Array("\(text)\n".utf8)) }

  /// Prints a line beside the result: an error, or a note that a pipe must not see.
  func error(_ text: String) { err(Array("\(text)\n".utf8)) }

  /// Writes all bytes. Where nobody reads any more (`doubloon … | head`) the process ends, as a program would that does
  /// not ignore the broken pipe's signal; a server has to ignore it.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EPIPE { exit(128 + SIGPIPE) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
