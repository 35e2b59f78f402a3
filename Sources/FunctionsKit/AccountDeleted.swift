/// An account went.
public struct AccountDeleted: Sendable {
  /// The account as it was last.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}
