package import TreeModel

extension AdminEvents {
  /// A run that failed.
  package struct FailedAttempt: AdminValue {
    package var function: String
    package var attempt: Int64
    package var startedAt: Timestamp?
    package var finishedAt: Timestamp
    package var error: String
    package var settings: JSON?

    package init(
      function: String, attempt: Int64, startedAt: Timestamp? = nil, finishedAt: Timestamp, error: String, settings: JSON? = nil
    ) {
      self.function = function
      self.attempt = attempt
      self.startedAt = startedAt
      self.finishedAt = finishedAt
      self.error = error
      self.settings = settings
    }
  }

  /// A registered function whose pattern matches an event's path.
  package struct FunctionMatch: AdminValue {
    package var function: String
    package var pattern: String
    package var captures: NamedValues<String>
    package var runsOn: String

    package init(function: String, pattern: String, captures: NamedValues<String>, runsOn: String) {
      self.function = function
      self.pattern = pattern
      self.captures = captures
      self.runsOn = runsOn
    }
  }

  /// An event by its id.
  package struct Reference: AdminValue {
    package var id: String
    package var kind: Kind

    package init(id: String, kind: Kind) {
      self.id = id
      self.kind = kind
    }
  }

  /// A message to the outside.
  package struct OutboxMessage: AdminValue {
    package var key: String
    package var outlet: String
    package var state: String
    package var attempts: Int64
    package var nextAttemptAt: Timestamp?
    package var lastError: String?
    package var createdAt: Timestamp
    package var payload: JSON

    package init(
      key: String, outlet: String, state: String, attempts: Int64, nextAttemptAt: Timestamp? = nil, lastError: String? = nil,
      createdAt: Timestamp, payload: JSON
    ) {
      self.key = key
      self.outlet = outlet
      self.state = state
      self.attempts = attempts
      self.nextAttemptAt = nextAttemptAt
      self.lastError = lastError
      self.createdAt = createdAt
      self.payload = payload
    }
  }

  /// A value that changed.
  package struct Change: AdminValue {
    package var path: String
    package var before: JSON
    package var after: JSON
    package var revision: Int64?
    /// True where a value is the beginning of a longer text.
    package var cut: Bool?

    package init(path: String, before: JSON, after: JSON, revision: Int64? = nil, cut: Bool? = nil) {
      self.path = path
      self.before = before
      self.after = after
      self.revision = revision
      self.cut = cut
    }

    package static let schemaName: String? = "Change"

    package static let notes: [String: FieldNote] = [
      "cut": .text("true where a value is the beginning of a longer text, as it was asked for")
    ]
  }

  /// A path of a player who left.
  package struct ErasedPath: AdminValue {
    package var path: String
    package var uid: String
    /// Up to here nothing is known of it.
    package var through: Int64
    package var at: Timestamp
    package var by: String
    package var reason: String

    package init(path: String, uid: String, through: Int64, at: Timestamp, by: String, reason: String) {
      self.path = path
      self.uid = uid
      self.through = through
      self.at = at
      self.by = by
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "through": .text("up to here nothing is known of it")
    ]
  }

  /// A function that was run by hand.
  package struct Invocation: AdminValue {
    package var id: Int64
    package var event: String
    package var function: String
    package var path: String
    package var before: JSON
    package var after: JSON
    /// Whose write the function saw.
    package var actingAs: String
    /// Who ran it.
    package var actor: String
    package var reason: String
    package var time: Timestamp

    private enum CodingKeys: String, CodingKey {
      case id
      case event
      case function
      case path
      case before
      case after
      case actingAs = "as"
      case actor
      case reason
      case time
    }

    package init(
      id: Int64, event: String, function: String, path: String, before: JSON, after: JSON, actingAs: String, actor: String,
      reason: String, time: Timestamp
    ) {
      self.id = id
      self.event = event
      self.function = function
      self.path = path
      self.before = before
      self.after = after
      self.actingAs = actingAs
      self.actor = actor
      self.reason = reason
      self.time = time
    }

    package static let notes: [String: FieldNote] = [
      "as": .text("whose write the function saw"),
      "actor": .text("who ran it"),
    ]
  }

  /// A commit as administrators see it.
  package struct Commit: AdminValue {
    package var revision: Int64
    package var time: Timestamp
    package var actor: String
    package var requestID: String?
    package var cause: Cause?
    /// False if functions were told to sleep through it.
    package var triggers: Bool
    package var changeCount: Int64?
    /// The first of them.
    package var changes: [Change]?
    /// True once the log was pruned.
    package var forgotten: Bool?
    /// Paths whose changes were erased, for players who left.
    package var erased: [String]?

    private enum CodingKeys: String, CodingKey {
      case revision
      case time
      case actor
      case requestID = "requestId"
      case cause
      case triggers
      case changeCount
      case changes
      case forgotten
      case erased
    }

    package init(
      revision: Int64, time: Timestamp, actor: String, requestID: String? = nil, cause: Cause? = nil, triggers: Bool,
      changeCount: Int64? = nil, changes: [Change]? = nil, forgotten: Bool? = nil, erased: [String]? = nil
    ) {
      self.revision = revision
      self.time = time
      self.actor = actor
      self.requestID = requestID
      self.cause = cause
      self.triggers = triggers
      self.changeCount = changeCount
      self.changes = changes
      self.forgotten = forgotten
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "triggers": .text("false if functions were told to sleep through it"),
      "changes": .text("the first of them"),
      "forgotten": .text("true once the log was pruned"),
      "erased": .text("paths whose changes were erased, for players who left"),
    ]
  }

  /// One event whole.
  package struct Detail: AdminValue {
    package var id: String
    package var kind: Kind
    package var path: String
    package var revision: Int64
    package var hop: Int64
    package var time: Timestamp?
    package var actor: String?
    package var requestID: String?
    package var cause: Cause?
    package var executions: [Execution]
    package var deliveries: [Delivery]
    /// Of a run by hand.
    package var invocation: Invocation?
    package var before: JSON
    package var after: JSON
    /// If before and after are not known any more.
    package var erased: ErasedPath?
    /// Whether before or after has more leaves than are shown.
    package var cut: Bool?
    /// Attempts that failed, oldest first.
    package var failures: [FailedAttempt]
    package var matches: [FunctionMatch]
    package var write: Nullable<Commit>
    package var effects: [Change]
    package var entries: [AdminLedger.Entry]
    /// Events that its effects caused.
    package var children: [Reference]
    /// Messages to the outside.
    package var outbox: [OutboxMessage]

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
      case invocation
      case before
      case after
      case erased
      case cut
      case failures
      case matches
      case write
      case effects
      case entries
      case children
      case outbox
    }

    package init(
      id: String, kind: Kind, path: String, revision: Int64, hop: Int64, time: Timestamp? = nil, actor: String? = nil,
      requestID: String? = nil, cause: Cause? = nil, executions: [Execution], deliveries: [Delivery],
      invocation: Invocation? = nil, before: JSON, after: JSON, erased: ErasedPath? = nil, cut: Bool? = nil,
      failures: [FailedAttempt], matches: [FunctionMatch], write: Nullable<Commit>, effects: [Change],
      entries: [AdminLedger.Entry], children: [Reference], outbox: [OutboxMessage]
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
      self.invocation = invocation
      self.before = before
      self.after = after
      self.erased = erased
      self.cut = cut
      self.failures = failures
      self.matches = matches
      self.write = write
      self.effects = effects
      self.entries = entries
      self.children = children
      self.outbox = outbox
    }

    package static let notes: [String: FieldNote] = [
      "invocation": .text("of a run by hand"),
      "erased": .text("if before and after are not known any more"),
      "cut": .text("whether before or after has more leaves than are shown"),
      "failures": .text("attempts that failed, oldest first"),
      "children": .text("events that its effects caused"),
      "outbox": .text("messages to the outside"),
    ]
  }
}
