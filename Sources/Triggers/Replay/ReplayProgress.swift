package import StorageCore
import TreeModel

/// How far a replay is, and what came of it so far.
package struct ReplayProgress: Sendable, Hashable {
  /// Where to go on; nil when everything was gone through.
  package var cursor: ReplayCursor?
  /// The last revision that counts: what comes later is not the replay's business.
  package var through: Revision
  /// Up to here the log was pruned when the replay began: what lies before was not looked at.
  package var pruned: Revision
  /// Commits, or records, that were looked at.
  package var scanned: Int64 = 0
  /// Pairs that were given to their functions.
  package var given: Int64 = 0
  /// Pairs that had been handled before.
  package var alreadyDone: Int64 = 0
  /// Pairs that wait for something else than a replay: a paused function, another event of their key.
  package var resting: Int64 = 0
  /// How the given pairs ended: `done`, `skipped: REASON`, `waiting`, `paused`, `dead`.
  package var outcomes: [String: Int64] = [:]
  /// What was paid by them, by unit.
  package var coins: [String: Int64] = [:]
  /// Why it could not go on; nil if it could.
  package var failure: String?

  init(cursor: ReplayCursor?, through: Revision, pruned: Revision) {
    self.cursor = cursor
    self.through = through
    self.pruned = pruned
  }

  var json: JSON {
    JSON(fields: [
      ("cursor", cursor?.json), ("through", .int(through.rawValue)),
      ("pruned", pruned > .zero ? .int(pruned.rawValue) : JSON?.none), ("scanned", .int(scanned)), ("given", .int(given)),
      ("alreadyDone", .int(alreadyDone)), ("resting", .int(resting)), ("outcomes", JSON(counts: outcomes)),
      ("coins", JSON(counts: coins)), ("failure", failure.map(JSON.string)),
    ])
  }

  /// How far a stored replay has come.
  package init(of record: ReplayRecord) { self.init(record.progress) }

  init(_ json: JSON) {
    cursor = json["cursor"].flatMap { ReplayCursor($0) }
    through = Revision(json["through"]?.int ?? 0)
    pruned = Revision(json["pruned"]?.int ?? 0)
    scanned = json["scanned"]?.int ?? 0
    given = json["given"]?.int ?? 0
    alreadyDone = json["alreadyDone"]?.int ?? 0
    resting = json["resting"]?.int ?? 0
    outcomes = json["outcomes"]?.counts ?? [:]
    coins = json["coins"]?.counts ?? [:]
    failure = json["failure"]?.string
  }
}

extension JSON {
  /// An object of numbers, by name.
  init(counts: [String: Int64]) {
    self = .object(counts.sorted { $0.key < $1.key }.map { Member(key: $0.key, value: .int($0.value)) })
  }

  /// An object of numbers as a dictionary.
  fileprivate var counts: [String: Int64] {
    Dictionary((object ?? []).compactMap { member in member.value.int.map { (member.key, $0) } }) { $1 }
  }
}

/// How far a replay has come in what it goes through.
package enum ReplayCursor: Sendable, Hashable {
  /// Among the dead letters, behind this one.
  case dead(after: ReplayItem?)
  /// Among what waits for a retry, behind this one.
  case waiting(after: ReplayItem?)
  /// In the log, behind this commit.
  case log(after: Revision)

  /// As a record keeps it, and as administrators see it.
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
