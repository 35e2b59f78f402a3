package import TreeModel

/// The trigger log: events, what functions made of them, what waits.
package enum AdminEvents {
  private static let event = EndpointParameter(
    "event", .form(JSONSchema.eventForm), isRequired: true, "The event's id: 1-42:/users/bob/level.")

  package static let list = Endpoint<Query, NoBody, Page>(
    .get, "/admin/v1/events", "Events, newest first, or how many there are; each page says how far it looked.", isScoped: true)
  package static let show = Endpoint<NoQuery, NoBody, Detail>(
    .get, "/admin/v1/events/{event...}",
    "One event whole: the write, before and after, the runs, their effects, entries, events and messages.", isScoped: true,
    captures: [event])
  package static let redeliver = Endpoint<NoQuery, EmptyBody, Done>(
    .post, "/admin/v1/events/{event...}/redeliver", "Gives an event to its functions again; who handled it does nothing.",
    access: .support, isScoped: true, captures: [event])
  package static let executions = Endpoint<ExecutionQuery, NoBody, ExecutionList>(
    .get, "/admin/v1/executions", "What the functions did with an event.", isScoped: true)
  package static let deadLetters = Endpoint<DeadLetterQuery, NoBody, DeadLetterList>(
    .get, "/admin/v1/dead-letters", "Events that a function gave up on.", isScoped: true)
  package static let acknowledge = Endpoint<NoQuery, AcknowledgeOrder, Acknowledged>(
    .post, "/admin/v1/dead-letters/acknowledge",
    "Closes dead letters without running them; body: reason, and function, event or both.", access: .support, isScoped: true)
  package static let drain = Endpoint<DrainQuery, EmptyBody, DrainReport>(
    .post, "/admin/v1/drain", "Waits until the events committed so far are settled; 504 with the list if they are not.",
    others: [504: "Not settled in time; what is running is listed."])

  /// What made a function write.
  package struct Cause: AdminValue {
    package var event: String
    package var function: String

    package init(event: String, function: String) {
      self.event = event
      self.function = function
    }

    package static let schemaName: String? = "Cause"
  }

  /// What happened at an event's path.
  package enum Kind: String, AdminWord, Hashable {
    case created
    case updated
    case deleted
  }

  /// How a run ended.
  package enum ExecutionOutcome: String, AdminWord, Hashable {
    case done
    case skipped
  }

  /// A run of a function that ended.
  package struct Execution: AdminValue {
    package var event: String
    package var function: String
    package var outcome: ExecutionOutcome
    package var reason: String?
    package var attempt: Int64
    package var startedAt: Timestamp
    package var finishedAt: Timestamp
    /// The revision of its commit.
    package var effect: Int64?
    package var settings: JSON?

    package init(
      event: String, function: String, outcome: ExecutionOutcome, reason: String? = nil, attempt: Int64, startedAt: Timestamp,
      finishedAt: Timestamp, effect: Int64? = nil, settings: JSON? = nil
    ) {
      self.event = event
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.attempt = attempt
      self.startedAt = startedAt
      self.finishedAt = finishedAt
      self.effect = effect
      self.settings = settings
    }

    package static let schemaName: String? = "Execution"

    package static let notes: [String: FieldNote] = [
      "effect": .text("the revision of its commit")
    ]
  }

  /// Why an event still waits for a function.
  package enum DeliveryState: String, AdminWord, Hashable {
    case waiting
    case paused
    case dead
  }

  /// An event that a function has not finished.
  package struct Delivery: AdminValue {
    package var event: String
    package var function: String
    package var state: DeliveryState
    package var kind: String
    package var hop: Int64
    package var attempts: Int64
    package var crashes: Int64
    package var nextAttemptAt: Timestamp?
    package var lastError: String
    package var updatedAt: Timestamp

    package init(
      event: String, function: String, state: DeliveryState, kind: String, hop: Int64, attempts: Int64, crashes: Int64,
      nextAttemptAt: Timestamp? = nil, lastError: String, updatedAt: Timestamp
    ) {
      self.event = event
      self.function = function
      self.state = state
      self.kind = kind
      self.hop = hop
      self.attempts = attempts
      self.crashes = crashes
      self.nextAttemptAt = nextAttemptAt
      self.lastError = lastError
      self.updatedAt = updatedAt
    }

    package static let schemaName: String? = "Delivery"
  }

  /// An event with what became of it.
  package struct Event: AdminValue {
    /// EPOCH-REVISION:PATH.
    package var id: String
    package var kind: Kind
    package var path: String
    package var revision: Int64
    /// Functions between the first write and it.
    package var hop: Int64
    package var time: Timestamp?
    package var actor: String?
    package var requestID: String?
    package var cause: Cause?
    package var executions: [Execution]
    package var deliveries: [Delivery]
    /// What its runs gave to players, by unit: below zero where they took. Listed events only.
    package var coins: NamedValues<Int64>?

    private enum CodingKeys: String, CodingKey {
      case id
      case kind
      case path
      case revision
      case hop
      case time
      case actor
      case requestID = "requestId"
      case cause
      case executions
      case deliveries
      case coins
    }

    package init(
      id: String, kind: Kind, path: String, revision: Int64, hop: Int64, time: Timestamp? = nil, actor: String? = nil,
      requestID: String? = nil, cause: Cause? = nil, executions: [Execution], deliveries: [Delivery],
      coins: NamedValues<Int64>? = nil
    ) {
      self.id = id
      self.kind = kind
      self.path = path
      self.revision = revision
      self.hop = hop
      self.time = time
      self.actor = actor
      self.requestID = requestID
      self.cause = cause
      self.executions = executions
      self.deliveries = deliveries
      self.coins = coins
    }

    package static let schemaName: String? = "Event"

    package static let notes: [String: FieldNote] = [
      "id": .text("EPOCH-REVISION:PATH"),
      "hop": .text("functions between the first write and it"),
      "coins": .text("what its runs gave to players, by unit, below zero where they took; not given if they moved nothing"),
    ]
  }

  /// Events, or how many there are, and how far the log was looked through.
  package struct Page: AdminValue {
    package var events: [Event]?
    package var count: Int64?
    /// Runs by outcome.
    package var outcomes: NamedValues<Int64>?
    /// The cursor of the next page; missing at the end.
    package var next: String?
    /// Events that were looked at.
    package var scanned: Int64
    /// Every event of this revision and later ones was looked at.
    package var scannedThrough: Int64
    /// Whether that was the end.
    package var complete: Bool
    /// Of the player who was asked for.
    package var erased: AdminAccounts.Erasure?

    package init(
      events: [Event]? = nil, count: Int64? = nil, outcomes: NamedValues<Int64>? = nil, next: String? = nil, scanned: Int64,
      scannedThrough: Int64, complete: Bool, erased: AdminAccounts.Erasure? = nil
    ) {
      self.events = events
      self.count = count
      self.outcomes = outcomes
      self.next = next
      self.scanned = scanned
      self.scannedThrough = scannedThrough
      self.complete = complete
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "outcomes": .text("runs by outcome"),
      "next": .text("the cursor of the next page; missing at the end"),
      "scanned": .text("events that were looked at"),
      "scannedThrough": .text("every event of this revision and later ones was looked at"),
      "complete": .text("whether that was the end"),
      "erased": .text("of the player who was asked for"),
    ]
  }

  /// What became of an event for a function.
  package enum Outcome: String, AdminWord, Hashable {
    case done
    case skipped
    case waiting
    case paused
    case dead
    case pending
  }

  /// Which events are wanted; everything that is given must hold.
  package struct Query: AdminValue {
    package var function: String?
    package var outcome: Outcome?
    package var reason: String?
    package var attempt: Int64?
    package var actor: String?
    package var path: String?
    package var uid: String?
    package var cause: String?
    package var since: Timestamp?
    package var until: Timestamp?
    package var count: Bool?
    package var limit: Int64?
    package var cursor: String?

    package init(
      since: Timestamp? = nil, until: Timestamp? = nil, function: String? = nil, outcome: Outcome? = nil, reason: String? = nil,
      attempt: Int64? = nil, actor: String? = nil, path: String? = nil, uid: String? = nil, cause: String? = nil,
      count: Bool? = nil, limit: Int64? = nil, cursor: String? = nil
    ) {
      self.since = since
      self.until = until
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.attempt = attempt
      self.actor = actor
      self.path = path
      self.uid = uid
      self.cause = cause
      self.count = count
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "since": .since,
      "until": .until,
      "function": .function,
      "outcome": .text("Only with this outcome for a function."),
      "reason": .only(.filled, text: "Only where this stands in the reason or the error."),
      "attempt": .only(.integer(0...1_000_000), text: "Only after so many attempts, or more."),
      "actor": .only(.filled, text: "Only written by this actor (user:bob), or this kind of actor (user)."),
      "path": .only(
        .form(#"^[^.#$\[\]{}*\x00-\x1F\x7F]*$"#), text: "Only at this path or below; or at a pattern: /users/*/level."),
      "uid": .only(
        .form(JSONSchema.keyForm), text: "Only about this player: in the path, or with coins moved on an account of theirs."),
      "cause": .only(
        .form(#"^([0-9]{1,9}|[0-9]{1,9}-[0-9]{1,9}:/[^.#$\[\]\x00-\x1F\x7F]*)$"#),
        text: "Only this event, or the events of this revision, and what came of them."),
      "count": .text("Only how many."),
      "limit": .limit(50),
      "cursor": .only(.form(#"^[0-9]{1,9}:(/[^.#$\[\]\x00-\x1F\x7F]*)?$"#), text: "The \"next\" of an earlier page."),
    ]
  }
}
