package import TreeModel

/// Replays: what would happen, what happens, what happened.
package enum AdminReplays {
  private static let id = EndpointParameter("id", .integer(1 ... .max), isRequired: true, "The replay's number.")
  /// What an order may say, for the summaries.
  private static let orderText =
    "body: mode (failed, gaps, all), reason, and to narrow it event, function, since, until (ms), uid, path, writer, error; allowHandled, suppressed, rate (per s)"

  package static let list = Endpoint<Query, NoBody, List>(
    .get, "/admin/v1/replays", "Replays, newest first; before, limit.", isScoped: true)
  package static let start = Endpoint<NoQuery, Order, Replay>(
    .post, "/admin/v1/replays", "Gives events to functions again; \(orderText).", access: .support, isScoped: true)
  package static let preview = Endpoint<NoQuery, Order, Trial>(
    .post, "/admin/v1/replays/preview", "Counts and coins of a replay, without any of it; \(orderText).", isScoped: true)
  package static let dryRun = Endpoint<NoQuery, Order, Trial>(
    .post, "/admin/v1/replays/dry-run", "What exactly a replay would change, without any of it; \(orderText).",
    isScoped: true)
  package static let rebuild = Endpoint<NoQuery, RebuildOrder, Rebuild>(
    .post, "/admin/v1/replays/rebuild",
    "Builds the namespace again from its commits and compares; body: into (an empty folder that keeps it), rerun, reason.",
    access: .admin, isScoped: true)
  package static let show = Endpoint<NoQuery, NoBody, Replay>(
    .get, "/admin/v1/replays/{id}", "One replay, with its progress.", isScoped: true, captures: [id])
  package static let items = Endpoint<ItemQuery, NoBody, ItemList>(
    .get, "/admin/v1/replays/{id}/items", "What a replay gave to functions, and what came of it; cursor, limit.",
    isScoped: true, captures: [id])
  package static let pause = Endpoint<NoQuery, EmptyBody, Replay>(
    .post, "/admin/v1/replays/{id}/pause", "Stops a replay after what is on its way.", access: .support, isScoped: true,
    captures: [id])
  package static let resume = Endpoint<NoQuery, EmptyBody, Replay>(
    .post, "/admin/v1/replays/{id}/resume", "Goes on with a replay.", access: .support, isScoped: true, captures: [id])
  package static let cancel = Endpoint<NoQuery, EmptyBody, Replay>(
    .post, "/admin/v1/replays/{id}/cancel", "Ends a replay after what is on its way.", access: .support, isScoped: true,
    captures: [id])

  /// Which events a replay gives to functions.
  package enum Mode: String, AdminWord, Hashable {
    case failed
    case gaps
    case all
  }

  /// How far a replay is.
  package enum State: String, AdminWord, Hashable {
    case running
    case paused
    case done
    case cancelled
    case failed
  }

  /// What is to be replayed.
  package struct Order: AdminValue {
    /// Failed, or all if an event is named.
    package var mode: Mode?
    /// Why, for the record.
    package var reason: String
    /// This event alone.
    package var event: String?
    /// This function alone.
    package var function: String?
    /// Events from this time on.
    package var since: Timestamp?
    /// Events up to this time, itself included.
    package var until: Timestamp?
    /// Events of this player's places.
    package var uid: String?
    /// Events at this path or below, or at places of this pattern.
    package var path: String?
    /// Events of writes by this actor, or of this kind of actor.
    package var writer: String?
    /// Failures that say this.
    package var error: String?
    /// Also writes that told functions to sleep: imports, and with triggers suppressed.
    package var suppressed: Bool?
    /// Also where another function has handled the pattern.
    package var allowHandled: Bool?
    /// Events a second at most; 0 or none: as fast as the server likes.
    package var rate: Int64?

    package init(
      mode: Mode? = nil, reason: String, event: String? = nil, function: String? = nil, since: Timestamp? = nil,
      until: Timestamp? = nil, uid: String? = nil, path: String? = nil, writer: String? = nil, error: String? = nil,
      suppressed: Bool? = nil, allowHandled: Bool? = nil, rate: Int64? = nil
    ) {
      self.mode = mode
      self.reason = reason
      self.event = event
      self.function = function
      self.since = since
      self.until = until
      self.uid = uid
      self.path = path
      self.writer = writer
      self.error = error
      self.suppressed = suppressed
      self.allowHandled = allowHandled
      self.rate = rate
    }

    package static let notes: [String: FieldNote] = [
      "mode": .text("failed, or all if an event is named"),
      "reason": .only(.filled, text: "why, for the record"),
      "event": .only(.form(JSONSchema.eventForm), text: "this event alone"),
      "function": .only(.filled, text: "this function alone"),
      "since": .text("events from this time on"),
      "until": .text("events up to this time, itself included"),
      "uid": .only(.form(JSONSchema.keyForm), text: "events of this player's places"),
      "path": .only(.filled, text: "events at this path or below, /users/bob, or at places of this pattern, /users/*/level"),
      "writer": .only(.filled, text: "events of writes by this actor, user:bob, or of this kind of actor, user"),
      "error": .only(.filled, text: "failures that say this; nothing else is meant then"),
      "suppressed": .text("also writes that told functions to sleep: imports, and with triggers suppressed"),
      "allowHandled": .text("also where another function has handled the pattern"),
      "rate": .only(.integer(0...1_000_000), text: "events a second at most; 0 or none: as fast as the server likes"),
    ]
  }

  /// What was asked for, by whom and why.
  package struct Ordered: AdminValue {
    package var mode: Mode
    package var event: String?
    package var function: String?
    package var since: Timestamp?
    package var until: Timestamp?
    package var uid: String?
    package var path: String?
    package var writer: String?
    package var error: String?
    package var allowHandled: Bool?
    package var suppressed: Bool?
    package var rate: Int64?
    package var reason: String
    package var actor: String

    package init(
      mode: Mode, event: String? = nil, function: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
      uid: String? = nil, path: String? = nil, writer: String? = nil, error: String? = nil, allowHandled: Bool? = nil,
      suppressed: Bool? = nil, rate: Int64? = nil, reason: String, actor: String
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
      self.allowHandled = allowHandled
      self.suppressed = suppressed
      self.rate = rate
      self.reason = reason
      self.actor = actor
    }
  }

  /// Where a replay stands, and its counts.
  package struct Progress: AdminValue {
    package var cursor: JSON?
    package var through: Int64
    package var pruned: Int64?
    package var scanned: Int64
    package var given: Int64
    package var alreadyDone: Int64
    package var resting: Int64
    package var outcomes: NamedValues<Int64>
    package var coins: NamedValues<Int64>
    package var failure: String?

    package init(
      cursor: JSON?, through: Int64, pruned: Int64?, scanned: Int64, given: Int64, alreadyDone: Int64, resting: Int64,
      outcomes: NamedValues<Int64>, coins: NamedValues<Int64>, failure: String?
    ) {
      self.cursor = cursor
      self.through = through
      self.pruned = pruned
      self.scanned = scanned
      self.given = given
      self.alreadyDone = alreadyDone
      self.resting = resting
      self.outcomes = outcomes
      self.coins = coins
      self.failure = failure
    }
  }

  /// A replay with its progress.
  package struct Replay: AdminValue {
    package var id: Int64
    package var state: State
    /// What was asked for, by whom and why.
    package var order: Ordered
    /// Where it stands, and its counts.
    package var progress: Progress
    package var createdAt: Timestamp
    package var updatedAt: Timestamp

    package init(
      id: Int64, state: State, order: Ordered, progress: Progress, createdAt: Timestamp, updatedAt: Timestamp
    ) {
      self.id = id
      self.state = state
      self.order = order
      self.progress = progress
      self.createdAt = createdAt
      self.updatedAt = updatedAt
    }

    package static let notes: [String: FieldNote] = [
      "order": .text("what was asked for, by whom and why"),
      "progress": .text("where it stands, and its counts"),
    ]
  }

  /// Which replays are wanted.
  package struct Query: AdminValue {
    package var before: Int64?
    package var limit: Int64?

    package init(before: Int64? = nil, limit: Int64? = nil) {
      self.before = before
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "before": .text("Only those before this number: the \"next\" of an earlier page."),
      "limit": .limit(50),
    ]
  }

  /// Replays, newest first.
  package struct List: AdminValue {
    package var replays: [Replay]
    /// The next page's before.
    package var next: Int64?

    package init(replays: [Replay], next: Int64? = nil) {
      self.replays = replays
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's before")
    ]
  }

  /// Which of a replay's events are wanted.
  package struct ItemQuery: AdminValue {
    package var cursor: String?
    package var limit: Int64?

    package init(cursor: String? = nil, limit: Int64? = nil) {
      self.cursor = cursor
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "cursor": .cursor,
      "limit": .limit(100),
    ]
  }

  /// An event that a replay, or a person, gave to a function, and what came of it.
  package struct Item: AdminValue {
    package var event: String
    package var function: String
    /// Done or skipped; of a run by hand also failed; of a replay also the state of what is not over.
    package var outcome: String
    package var reason: String?
    /// The revision of its commit.
    package var effect: Int64?

    package init(event: String, function: String, outcome: String, reason: String? = nil, effect: Int64? = nil) {
      self.event = event
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.effect = effect
    }

    package static let notes: [String: FieldNote] = [
      "outcome": .text("done or skipped; of a run by hand also failed; of a replay also the state of what is not over"),
      "effect": .text("the revision of its commit"),
    ]
  }

  /// What a replay gave to functions.
  package struct ItemList: AdminValue {
    package var items: [Item]
    /// The next page's cursor.
    package var next: String?

    package init(items: [Item], next: String? = nil) {
      self.items = items
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's cursor")
    ]
  }
}
