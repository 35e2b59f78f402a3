/// Misuse of a ``FunctionContext``. Fails the run even if the function swallows it.
public struct FunctionContextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong, and what to do instead: a sentence for the function's author.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}
