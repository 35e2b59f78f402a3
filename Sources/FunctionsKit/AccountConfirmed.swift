/// An account's mail address was confirmed: by a code that was mailed, by a provider, by an administrator.
public struct AccountConfirmed: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}
