/// What of a room's records goes when a player leaves.
public struct RoomErasure: Sendable {
  /// Records that are removed, or replaced by what may stay.
  public var records: [RoomChange]
  /// Keys of messages of the outbox whose words go.
  public var messages: [String]

  public init(records: [RoomChange] = [], messages: [String] = []) {
    self.records = records
    self.messages = messages
  }
}
