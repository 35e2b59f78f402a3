/// A test asked for something that cannot be right: it fails with a sentence, never quietly.
public struct TestServerError: Error, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
