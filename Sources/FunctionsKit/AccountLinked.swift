/// An account that existed got another identity: a password, a telephone, a Google account. Its uid stays.
public struct AccountLinked: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// What was added: `password`, `phone`, `google.com`.
  public let provider: String
  /// Whether the account was anonymous until then: the player can no longer lose it with the device.
  public let wasAnonymous: Bool
  /// When, where and by whom.
  public let details: EventDetails
}
