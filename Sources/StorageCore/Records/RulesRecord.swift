/// A namespace's rules file, as it was uploaded.
public struct RulesRecord: Sendable, Hashable {
  /// The file's text, with its comments.
  public let source: String
  /// Milliseconds since 1970.
  public let updatedAt: Int64
  /// The last number that was given to an index of the namespace; none is given twice.
  public let lastIndex: Int64

  public init(source: String, updatedAt: Int64, lastIndex: Int64) {
    self.source = source
    self.updatedAt = updatedAt
    self.lastIndex = lastIndex
  }
}
