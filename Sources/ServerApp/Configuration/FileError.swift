/// Why a file cannot be read, written or used.
struct FileError: Error, Sendable, CustomStringConvertible {
  /// A sentence that names the file, with what to do; where a file has several faults, a line for each.
  let message: String

  init(_ message: String) {
    self.message = message
  }

  var description: String { message }
}
