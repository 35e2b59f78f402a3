package import StorageCore

/// The notes that a process has left that died, for carrying them to the node that leads next: who runs the event there must know how
/// many processes it has ended before.
///
/// No process may have the file open.
package struct CrashNoteFile: Sendable {
  private let path: String

  /// - Parameter path: may lead to nothing: then there are no notes.
  package init(path: String) {
    self.path = path
  }

  /// The notes, as they stand there.
  package func notes() throws(StorageError) -> [[UInt8]] { try CrashNotes(path: path).slots() }

  /// Forgets them: they were carried on.
  package func clear() throws(StorageError) { try CrashNotes(path: path).clearAll() }

  /// Puts notes of other processes beside those that are there; the next start counts them all. More than there is room for are left
  /// out.
  package func add(_ notes: [[UInt8]]) throws(StorageError) {
    guard !notes.isEmpty else { return }
    try CrashNotes(path: path).fill(notes)
  }
}
