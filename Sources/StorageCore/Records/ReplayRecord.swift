public import TreeModel

/// A replay as storage keeps it: what was asked for, and how far it is. It outlives the process that runs it.
public struct ReplayRecord: Sendable, Hashable {
  /// Whether there is anything left to do.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// At work, or to be taken up again at the next start.
    case running
    /// Stopped by a person; can go on.
    case paused
    /// Over: everything that was asked for was given to the functions.
    case done
    /// Over: a person ended it.
    case cancelled
    /// Over: it could not go on. The progress says why.
    case failed
  }

  /// 1, 2, 3 … within the namespace.
  public let id: Int64
  /// Whether there is anything left to do.
  public let state: State
  /// What was asked for.
  public let order: ReplayOrder
  /// How far it is, with its counts; in the form of its runner.
  public let progress: JSON
  /// Milliseconds since 1970.
  public let createdAt: Int64
  /// Milliseconds since 1970.
  public let updatedAt: Int64

  public init(id: Int64, state: State, order: ReplayOrder, progress: JSON, createdAt: Int64, updatedAt: Int64) {
    self.id = id
    self.state = state
    self.order = order
    self.progress = progress
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// An event and a function that a replay brought together; what became of it is in the execution or the delivery.
public struct ReplayItem: Sendable, Hashable {
  /// Which event.
  public let event: EventID
  /// The name of the function.
  public let function: String

  public init(event: EventID, function: String) {
    self.event = event
    self.function = function
  }
}

/// What is to be replayed, why, and by whose order.
public struct ReplayOrder: Sendable, Hashable {
  /// Which pairs of event and function are meant.
  public enum Mode: String, Sendable, Hashable, CaseIterable {
    /// Dead letters, and what waits for a retry.
    case failed
    /// Events of the log that a function has never had: it was deployed later, or its filter was another.
    case gaps
    /// Both, and everything that was handled before, to which nothing happens a second time.
    case all
  }

  /// Which pairs are meant.
  public var mode: Mode
  /// Only this event.
  public var event: EventID?
  /// Only this function.
  public var function: String?
  /// Only events that were committed at this time or later, in milliseconds since 1970.
  public var since: Int64?
  /// Only events that were committed at this time or earlier, in milliseconds since 1970.
  public var until: Int64?
  /// Only events with this key in their path.
  public var uid: String?
  /// Only events at this path or below, or at places of this pattern.
  public var path: String?
  /// Only events of writes by this actor, `user:bob`, or of this kind of actor, `user`.
  public var writer: String?
  /// Only failures that say this.
  public var error: String?
  /// Whether a function may be given events that another function has handled.
  public var allowsHandled: Bool
  /// Whether writes count, too, that told functions to sleep: imports, and writes with triggers suppressed.
  public var takesSuppressed: Bool
  /// The most events in a second; 0 for no limit.
  public var rate: Int64
  /// Why, for the record; never empty.
  public var reason: String
  /// Who asked.
  public var actor: Actor

  public init(
    mode: Mode, event: EventID? = nil, function: String? = nil, since: Int64? = nil, until: Int64? = nil,
    uid: String? = nil, path: String? = nil, writer: String? = nil, error: String? = nil, allowsHandled: Bool = false,
    takesSuppressed: Bool = false, rate: Int64 = 0, reason: String, actor: Actor
  ) {
    self.mode = mode
    self.event = event
    self.function = function
    self.since = since
    self.until = until
    self.uid = uid
    self.path = path
    self.writer = writer
    self.error = error
    self.allowsHandled = allowsHandled
    self.takesSuppressed = takesSuppressed
    self.rate = rate
    self.reason = reason
    self.actor = actor
  }

  /// The order as JSON; what was not said is left out.
  public var json: JSON {
    let members: [(String, JSON?)] = [
      ("mode", .string(mode.rawValue)), ("event", event.map { .string($0.description) }),
      ("function", function.map(JSON.string)), ("since", since.map(JSON.int)), ("until", until.map(JSON.int)),
      ("uid", uid.map(JSON.string)), ("path", path.map(JSON.string)), ("writer", writer.map(JSON.string)),
      ("error", error.map(JSON.string)), ("allowHandled", allowsHandled ? .bool(true) : JSON?.none),
      ("suppressed", takesSuppressed ? .bool(true) : JSON?.none),
      ("rate", rate > 0 ? .int(rate) : JSON?.none), ("reason", .string(reason)), ("actor", .string(actor.description)),
    ]
    return .object(members.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } })
  }

  /// Reads what ``json`` wrote; nil if it is not that.
  public init?(_ json: JSON) {
    guard let mode = json["mode"]?.string.flatMap(Mode.init), let reason = json["reason"]?.string,
      let actor = json["actor"]?.string.flatMap({ Actor($0) })
    else { return nil }
    var event: EventID?
    if let text = json["event"]?.string {
      guard let id = EventID(text) else { return nil }
      event = id
    }
    self.init(
      mode: mode, event: event, function: json["function"]?.string, since: json["since"]?.int, until: json["until"]?.int,
      uid: json["uid"]?.string, path: json["path"]?.string, writer: json["writer"]?.string, error: json["error"]?.string,
      allowsHandled: json["allowHandled"]?.bool ?? false,
      takesSuppressed: json["suppressed"]?.bool ?? false, rate: json["rate"]?.int ?? 0,
      reason: reason, actor: actor)
  }
}
