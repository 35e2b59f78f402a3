/// Why a file cannot be read, written or used.
package struct FileError: Error, Sendable, CustomStringConvertible {
  /// A sentence that names the file, with what to do; where a file has several faults, a line for each.
  package let message: String

  init(_ message: String) {
    self.message = message
  }

  package var description: String { message }
}
