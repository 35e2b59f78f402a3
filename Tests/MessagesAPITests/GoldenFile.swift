import Glibc
import TestSupport
import Testing

/// A file of `Tests/Golden`: what was answered when somebody looked at it last. What is answered now must be the same, byte for
/// byte.
///
/// With `DOUBLOON_RENEW_GOLDEN=1` in its environment a run writes the files again and fails, so that nobody forgets to look at what
/// has changed: `git diff Tests/Golden`.
struct GoldenFile {
  let path: String

  init(_ name: String) {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    path = "\(tests)/Golden/\(name)"
  }

  /// Compares, line by line so that the first difference is told.
  func check(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    if getenv("DOUBLOON_RENEW_GOLDEN") != nil {
      try write(text)
      Issue.record("\(path) was written again: look at the difference, and run again", sourceLocation: sourceLocation)
      return
    }
    let kept = try DiskFiles.bytes(path)
    guard kept != Array(text.utf8) else { return }
    let (was, now) = (Self.lines(String(decoding: kept, as: UTF8.self)), Self.lines(text))
    let line = zip(was, now).prefix { $0 == $1 }.count
    func shown(_ lines: [Substring]) -> Substring { lines.indices.contains(line) ? lines[line] : "nothing" }
    Issue.record(
      "\(path):\(line + 1) has changed; if it is meant, run with DOUBLOON_RENEW_GOLDEN=1\n  was: \(shown(was))\n  now: \(shown(now))",
      sourceLocation: sourceLocation)
  }

  private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

  private struct WriteError: Error { let path: String }

  private func write(_ text: String) throws {
    guard let file = fopen(path, "w") else { throw WriteError(path: path) }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw WriteError(path: path) }
  }
}
