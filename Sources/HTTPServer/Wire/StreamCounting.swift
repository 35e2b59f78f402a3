/// Counts the answers that never end, and says when there are too many.
package protocol StreamCounting: Sendable {
  /// Counts one more; false if there are too many.
  func open() -> Bool
  /// One has ended, or did not begin.
  func close()
}
