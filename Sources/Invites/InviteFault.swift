/// Why an invitation is refused; nothing was sent or recorded.
public struct InviteFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of refusal; surfaces choose a status by it.
  public enum Kind: Sendable, Hashable {
    case invalid, notFound, suppressed, tooMany, unavailable
  }

  /// What kind of refusal.
  public let kind: Kind
  /// What is wrong, and what to do.
  public let message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
