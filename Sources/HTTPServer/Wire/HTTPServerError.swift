/// Why the server does not serve.
package struct HTTPServerError: Error, Sendable, CustomStringConvertible {
  /// What happened, and what to do.
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
