import StorageCore
import TreeModel

/// Where a replay stands in what it goes through.
enum ReplayCursor: Sendable, Hashable {
  /// Among the dead letters, behind this one.
  case dead(after: ReplayItem?)
  /// Among what waits for a retry, behind this one.
  case waiting(after: ReplayItem?)
  /// In the log, behind this commit.
  case log(after: Revision)

  var json: JSON {
    switch self {
    case .dead(let item): Self.json("dead", item)
    case .waiting(let item): Self.json("waiting", item)
    case .log(let revision): ["in": "log", "revision": .int(revision.rawValue)]
    }
  }

  init?(_ json: JSON) {
    var item: ReplayItem?
    if let event = json["event"]?.string.flatMap({ EventID($0) }), let function = json["function"]?.string {
      item = ReplayItem(event: event, function: function)
    }
    switch json["in"]?.string {
    case "dead": self = .dead(after: item)
    case "waiting": self = .waiting(after: item)
    case "log": self = .log(after: Revision(json["revision"]?.int ?? 0))
    default: return nil
    }
  }

  private static func json(_ place: String, _ item: ReplayItem?) -> JSON {
    guard let item else { return ["in": .string(place)] }
    return [
      "in": .string(place), "event": .string(item.event.description), "function": .string(item.function),
    ]
  }
}
