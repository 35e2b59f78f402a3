import TreeModel

/// A reward that waits until a player's address is confirmed, as a record's value (``RewardRecord/unconfirmed``). For the engine.
public struct WaitingReward: Sendable, Hashable {
  /// The account that gets the coins.
  public let receiver: String
  /// Whether only who was not paid before gets them, and it is remembered who did.
  public let isRemembered: Bool

  public init(receiver: String, isRemembered: Bool) {
    self.receiver = receiver
    self.isRemembered = isRemembered
  }

  /// Reads what ``text`` wrote.
  public init(stored text: String) {
    let json = (try? JSONParser.parse(text)) ?? .null
    // Earlier versions wrote the account alone.
    receiver = json["to"]?.string ?? text
    isRemembered = json["remembered"]?.bool ?? true
  }

  /// The record's value.
  public var text: String {
    var writer = JSONWriter()
    writer.write(JSON(fields: [("to", .string(receiver)), ("remembered", .bool(isRemembered))]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
