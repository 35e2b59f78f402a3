/// An account came into being.
public struct AccountCreated: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}
