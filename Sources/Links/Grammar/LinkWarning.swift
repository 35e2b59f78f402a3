public import TreeModel

/// What is doubtful about a link that was created all the same (spec: links-messaging §1, warnings).
public struct LinkWarning: Sendable, Hashable {
  /// One of the API's words: `UNRECOGNIZED_PARAM`.
  public let code: String
  /// For people.
  public let message: String

  init(_ code: String, _ message: String) {
    self.code = code
    self.message = message
  }

  /// As the API writes it.
  public var json: JSON { ["warningCode": .string(code), "warningMessage": .string(message)] }
}
