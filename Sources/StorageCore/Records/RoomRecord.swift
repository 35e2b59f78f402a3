/// A record of a room that looks its records up by name only: links, claims, invitations, suppressed addresses.
///
/// One table holds them all; what a value says is the room's own affair.
public struct RoomRecord: Sendable, Hashable {
  /// Of which kind: `link`, `invite`. Constant texts of the room's.
  public let kind: String
  /// Unique in its kind and namespace. Listings go by its bytes.
  public let key: String
  /// What is recorded, as JSON.
  public let value: String

  public init(kind: String, key: String, value: String) {
    self.kind = kind
    self.key = key
    self.value = value
  }
}
