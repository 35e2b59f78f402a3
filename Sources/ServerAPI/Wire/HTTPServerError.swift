/// Why the server does not serve.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
  /// What happened, and what to do.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
