package import TreeModel

/// Something that happened to a player, which a published campaign waits for.
package struct MessageEvent: Sendable, Hashable {
  /// Made of what caused it, so that the same cause makes no second one.
  package let id: String
  package let uid: String
  /// `reward`, `friend_joined`, or what a function or an administrator raised.
  package let name: String
  /// Scalars by name.
  package let parameters: [JSON.Member]
  /// Milliseconds since 1970.
  package let at: Int64
  package let expires: Int64
  /// The campaign that told the player, and when.
  package var campaign: String?
  package var shownAt: Int64?

  init(id: String, uid: String, name: String, parameters: [JSON.Member], at: Int64, expires: Int64) {
    self.id = id
    self.uid = uid
    self.name = name
    self.parameters = parameters
    self.at = at
    self.expires = expires
  }

  static let kind = "message_event"
  /// Events that were told stand apart, so that those that wait are found without them.
  static let toldKind = "message_told"
  var key: String { "\(uid)/\(id)" }

  package var json: JSON {
    JSON(fields: [
      ("id", .string(id)), ("uid", .string(uid)), ("name", .string(name)), ("params", .object(parameters)), ("at", .int(at)),
      ("expires", .int(expires)), ("campaign", campaign.map(JSON.string)), ("shownAt", shownAt.map(JSON.int)),
    ])
  }

  /// The same of another player.
  func moved(to uid: String) -> MessageEvent {
    var event = MessageEvent(id: id, uid: uid, name: name, parameters: parameters, at: at, expires: expires)
    (event.campaign, event.shownAt) = (campaign, shownAt)
    return event
  }

  /// As clients get it.
  package var clientJSON: JSON {
    ["id": .string(id), "name": .string(name), "params": .object(parameters), "at": .int(at)]
  }

  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let id = json["id"]?.string, let uid = json["uid"]?.string,
      let name = json["name"]?.string, let at = json["at"]?.int, let expires = json["expires"]?.int
    else { return nil }
    self.init(id: id, uid: uid, name: name, parameters: json["params"]?.object ?? [], at: at, expires: expires)
    campaign = json["campaign"]?.string
    shownAt = json["shownAt"]?.int
  }

  func isPending(at now: Int64) -> Bool { shownAt == nil && expires > now }

  /// Whether it is what a trigger waits for.
  func fires(_ name: String, where conditions: [ParameterCondition]) -> Bool {
    self.name == name && conditions.holds(parameters)
  }
}

extension [ParameterCondition] {
  /// Whether all hold for an event's parameters.
  func holds(_ parameters: [JSON.Member]) -> Bool {
    allSatisfy { condition in
      condition.comparison.holds(parameters.last { $0.key == condition.name }?.value)
    }
  }
}

/// An event that is asked for, before it is known whether anything waits for it.
struct MessageCause: Sendable {
  let id: String
  let uid: String
  let name: String
  let parameters: [JSON.Member]
}
