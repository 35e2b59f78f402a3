import TreeModel

extension AdminEvents {
  /// Whose runs are wanted.
  package struct ExecutionQuery: AdminValue {
    package var event: String

    package init(event: String) {
      self.event = event
    }

    package static let notes: [String: FieldNote] = [
      "event": .only(.form(JSONSchema.eventForm), text: "The event's id: 1-42:/users/bob/level.")
    ]
  }

  /// The runs of an event.
  package struct ExecutionList: AdminValue {
    package var executions: [Execution]

    package init(executions: [Execution]) {
      self.executions = executions
    }
  }

  /// Which dead letters are wanted.
  package struct DeadLetterQuery: AdminValue {
    package var limit: Int64?
    package var cursor: String?

    package init(limit: Int64? = nil, cursor: String? = nil) {
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(100),
      "cursor": .only(.form(#"^[A-Za-z0-9_-]+ [0-9]{1,9}-[0-9]{1,9}:/[A-Za-z0-9/_-]*$"#), text: "The next of a page."),
    ]
  }

  /// Events that functions gave up on.
  package struct DeadLetterList: AdminValue {
    package var deadLetters: [Delivery]
    package var next: String?

    package init(deadLetters: [Delivery], next: String? = nil) {
      self.deadLetters = deadLetters
      self.next = next
    }
  }

  /// Which dead letters are closed without being run.
  package struct AcknowledgeOrder: AdminValue {
    /// Why, for the record.
    package var reason: String
    /// Of this function.
    package var function: String?
    /// Of this event.
    package var event: String?

    package init(reason: String, function: String? = nil, event: String? = nil) {
      self.reason = reason
      self.function = function
      self.event = event
    }

    package static let notes: [String: FieldNote] = [
      "reason": .only(.filled, text: "why, for the record"),
      "function": .only(.filled, text: "of this function"),
      "event": .only(.form(JSONSchema.eventForm), text: "of this event"),
    ]
  }

  /// How many dead letters were closed.
  package struct Acknowledged: AdminValue {
    package var status: Done.Status
    /// How many.
    package var acknowledged: Int64

    package init(status: Done.Status, acknowledged: Int64) {
      self.status = status
      self.acknowledged = acknowledged
    }

    package static let notes: [String: FieldNote] = [
      "acknowledged": .text("how many")
    ]
  }

  /// How long to wait.
  package struct DrainQuery: AdminValue {
    package var timeout: String?

    package init(timeout: String? = nil) {
      self.timeout = timeout
    }

    package static let notes: [String: FieldNote] = [
      "timeout": .only(
        .form("^([0-9]{1,6}ms|[0-9]{1,3}s?|[0-9]min)$"), text: "How long to wait: 500ms, 30s, 2min; at most an hour.")
    ]
  }

  /// A run that a drain found unsettled, or what kept it from looking.
  package struct DrainedRun: AdminValue {
    /// How far a run is.
    package enum State: String, AdminWord {
      case queued
      case running
      case waiting
      case paused
      case dead
    }

    package var event: String?
    package var function: String?
    package var state: State?
    /// The last failure; null if there was none.
    package var error: Nullable<String>

    package init(event: String? = nil, function: String? = nil, state: State? = nil, error: String?) {
      self.event = event
      self.function = function
      self.state = state
      self.error = Nullable(error)
    }

    package static let notes: [String: FieldNote] = [
      "error": .text("the last failure; alone, if nothing is known of the runs")
    ]
  }

  /// What a drain left.
  package struct DrainReport: AdminValue {
    package var settled: Bool
    /// What is not settled; if that is not known, one run that has only an error.
    package var running: [DrainedRun]
    /// What waits for a retry, is paused or dead.
    package var unfinished: [DrainedRun]

    package init(settled: Bool, running: [DrainedRun], unfinished: [DrainedRun]) {
      self.settled = settled
      self.running = running
      self.unfinished = unfinished
    }

    package static let notes: [String: FieldNote] = [
      "unfinished": .text("what waits for a retry, is paused or dead")
    ]
  }
}
