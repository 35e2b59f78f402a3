/// Why a mail was not taken.
public struct MailFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// Whether trying again could help.
  public enum Kind: Sendable, Hashable {
    /// The server is away, busy or misconfigured: later it may take the mail.
    case temporary
    /// The mail itself is refused, now and for ever.
    case permanent
  }

  /// Whether trying again could help.
  public let kind: Kind
  /// What happened; without the mail's texts, and without passwords.
  public let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
