import Glibc

/// Where a command prints: results to one side, errors and progress to the other.
package struct CommandOutput: Sendable {
  /// Takes results.
  package let out: @Sendable ([UInt8]) -> Void
  /// Takes errors, notes and progress.
  package let err: @Sendable ([UInt8]) -> Void
  /// Whether a person sees the progress: long work is quiet in a pipe.
  package let showsProgress: Bool
  /// How many characters a line of the result has on a terminal; nil in a pipe or a file.
  var width: Int?

  package init(
    out: @escaping @Sendable ([UInt8]) -> Void, err: @escaping @Sendable ([UInt8]) -> Void, showsProgress: Bool,
    width: Int? = nil
  ) {
    self.out = out
    self.err = err
    self.showsProgress = showsProgress
    self.width = width
  }

  /// The process's own streams.
  static let standard = CommandOutput(
    out: { writeResult($0) }, err: { _ = errorCode(writing: $0, to: STDERR_FILENO) },
    showsProgress: isatty(STDERR_FILENO) == 1, width: terminalWidth())

  private static func terminalWidth() -> Int? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Prints a line of the result.
  func line(_ text: String) { out(Array("\(text)\n".utf8)) }

  /// Prints a line beside the result: an error, or a note that a pipe must not see.
  func error(_ text: String) { err(Array("\(text)\n".utf8)) }

  /// Writes a part of the result, or ends the process: who reads the result must not take a part of it for the whole.
  private static func writeResult(_ bytes: [UInt8]) {
    guard let code = errorCode(writing: bytes, to: STDOUT_FILENO) else { return }
    let message =
      "Error: the standard output cannot be written: \(String(cString: strerror(code))). "
      + "Whatever the command was to do is done; look before you repeat it.\n"
    _ = errorCode(writing: Array(message.utf8), to: STDERR_FILENO)
    exit(1)
  }

  /// Writes all bytes; returns the system's error if that fails. Where nobody reads any more (`doubloon … | head`) the
  /// process ends, as a program would that does not ignore the broken pipe's signal; a server has to ignore it.
  static func errorCode(writing bytes: [UInt8], to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
          rest = rest.dropFirst(count)
          continue
        }
        let code = count < 0 ? errno : EIO
        switch code {
        case EINTR: continue
        case EAGAIN: waitForSpace(descriptor)
        case EPIPE: exit(128 + SIGPIPE)
        default: return code
        }
      }
      return nil
    }
  }

  /// Another process may have made the pipe or the terminal one that does not wait by itself.
  private static func waitForSpace(_ descriptor: Int32) {
    var events = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&events, 1, -1)
  }
}

/// One line on a terminal that says how far long work is; nothing in a pipe.
struct ProgressLine {
  private let output: CommandOutput
  private var width = 0

  init(_ output: CommandOutput) {
    self.output = output
  }

  /// Replaces the line.
  mutating func show(_ text: String) {
    guard output.showsProgress else { return }
    let gap = String(repeating: " ", count: max(0, width - text.count))
    output.err(Array("\r\(text)\(gap)".utf8))
    width = text.count
  }

  /// Removes the line.
  mutating func clear() {
    guard width > 0 else { return }
    output.err(Array("\r\(String(repeating: " ", count: width))\r".utf8))
    width = 0
  }
}

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
      throw CommandError("Nobody is there to be asked; look at what is printed above, and go on with --yes.")
    }
    return answer
  }
}
