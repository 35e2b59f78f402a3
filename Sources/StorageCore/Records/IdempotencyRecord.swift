/// The answer to a request that carried a key, kept so that a repetition gets the same one.
public struct IdempotencyRecord: Sendable, Hashable {
  /// What the client called the request; unique in its namespace.
  public let key: String
  /// SHA-256 of the request: another request under the same key is a conflict.
  public let requestDigest: [UInt8]
  /// The commit of the request; zero if it changed nothing.
  public let revision: Revision
  /// What the surface answered, in a form of its own.
  public let answer: [UInt8]
  /// Milliseconds since 1970.
  public let expiresAt: Int64

  public init(key: String, requestDigest: [UInt8], revision: Revision, answer: [UInt8], expiresAt: Int64) {
    self.key = key
    self.requestDigest = requestDigest
    self.revision = revision
    self.answer = answer
    self.expiresAt = expiresAt
  }
}
