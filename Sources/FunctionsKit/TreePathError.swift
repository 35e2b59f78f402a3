/// A ``TreePath`` whose text is no pattern, or does not fit its types.
public struct TreePathError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Which place, and what is wrong with it.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
