package import TreeModel

extension AdminFunctions {
  /// One function, with all that is known of it.
  package struct Detail: AdminValue {
    /// As the list has it.
    package var function: Function
    package var settings: [Setting]
    /// Not given for one that is only remembered.
    package var runs: Runs?
    package var deliveries: Deliveries

    package init(function: Function, settings: [Setting], runs: Runs? = nil, deliveries: Deliveries) {
      self.function = function
      self.settings = settings
      self.runs = runs
      self.deliveries = deliveries
    }

    package static let notes: [String: FieldNote] = [
      "function": .only(.named("Function"), text: "as the list has it"),
      "runs": .text("since the process started; not given for one that is only remembered"),
    ]
  }

  /// A setting of a function.
  package struct Setting: AdminValue {
    package var name: String
    /// What holds; null for one that is not set.
    package var value: JSON
    /// What the code says.
    package var standard: JSON
    /// Whether the configuration says something else than the code.
    package var overridden: Bool

    private enum CodingKeys: String, CodingKey {
      case name
      case value
      case standard = "default"
      case overridden
    }

    package init(name: String, value: JSON, standard: JSON, overridden: Bool) {
      self.name = name
      self.value = value
      self.standard = standard
      self.overridden = overridden
    }

    package static let notes: [String: FieldNote] = [
      "value": .text("what holds; null for one that is not set"),
      "default": .text("what the code says"),
      "overridden": .text("whether the configuration says something else than the code"),
    ]
  }

  /// What became of a function's runs since the process started.
  package struct Runs: AdminValue {
    /// Attempts by how they ended: done, skipped, repeated, failed.
    package var outcomes: NamedValues<Int64>
    /// Of the failed ones, those that were abandoned at their deadline.
    package var timeouts: Int64
    /// Events that it gave up on.
    package var deadLetters: Int64
    /// Runs on the writer.
    package var inline: Int64
    /// Runs whose time was measured.
    package var measured: Int64
    /// The mean time of these; not given before the first.
    package var meanNanoseconds: Int64?
    /// The longest of these; not given before the first.
    package var slowestNanoseconds: Int64?
    /// How long 50, 95 and 99 of 100 took at most, up to a quarter more than measured; not given before the first.
    package var p50Nanoseconds: Int64?
    package var p95Nanoseconds: Int64?
    package var p99Nanoseconds: Int64?

    package init(
      outcomes: NamedValues<Int64>, timeouts: Int64, deadLetters: Int64, inline: Int64, measured: Int64,
      meanNanoseconds: Int64? = nil, slowestNanoseconds: Int64? = nil, p50Nanoseconds: Int64? = nil,
      p95Nanoseconds: Int64? = nil, p99Nanoseconds: Int64? = nil
    ) {
      self.outcomes = outcomes
      self.timeouts = timeouts
      self.deadLetters = deadLetters
      self.inline = inline
      self.measured = measured
      self.meanNanoseconds = meanNanoseconds
      self.slowestNanoseconds = slowestNanoseconds
      self.p50Nanoseconds = p50Nanoseconds
      self.p95Nanoseconds = p95Nanoseconds
      self.p99Nanoseconds = p99Nanoseconds
    }

    package static let notes: [String: FieldNote] = [
      "outcomes": .only(.object([]), text: "attempts by how they ended: done, skipped, repeated, failed"),
      "timeouts": .text("of the failed ones, those that were abandoned at their deadline"),
      "deadLetters": .text("events that it gave up on"),
      "inline": .text("runs on the writer"),
      "measured": .text("runs whose time was measured"),
      "meanNanoseconds": .text("the mean time of these"),
      "slowestNanoseconds": .text("the longest of these"),
      "p50Nanoseconds": .text("half of these took no longer; up to a quarter more than measured"),
      "p95Nanoseconds": .text("95 of 100 of these took no longer; up to a quarter more than measured"),
      "p99Nanoseconds": .text("99 of 100 of these took no longer; up to a quarter more than measured"),
    ]
  }

  /// The events that a function has not finished, in all namespaces.
  package struct Deliveries: AdminValue {
    /// Events that wait for an attempt, or for an earlier event of their key.
    package var waiting: Int64
    /// Events that wait until the function is resumed.
    package var paused: Int64
    /// Events that it gave up on and nobody has dealt with.
    package var dead: Int64
    /// Whether all were counted.
    package var complete: Bool
    /// The oldest that waits.
    package var oldestWaiting: WaitingEvent?
    /// The error that was written last.
    package var lastError: FailedDelivery?

    package init(
      waiting: Int64, paused: Int64, dead: Int64, complete: Bool, oldestWaiting: WaitingEvent? = nil,
      lastError: FailedDelivery? = nil
    ) {
      self.waiting = waiting
      self.paused = paused
      self.dead = dead
      self.complete = complete
      self.oldestWaiting = oldestWaiting
      self.lastError = lastError
    }

    package static let notes: [String: FieldNote] = [
      "waiting": .text("events that wait for an attempt, or for an earlier event of their key"),
      "paused": .text("events that wait until the function is resumed"),
      "dead": .text("events that it gave up on and nobody has dealt with"),
      "complete": .text("whether all were counted"),
      "oldestWaiting": .text("the oldest event that waits for an attempt"),
      "lastError": .text("the error that was written last, of an event that waits or is dead"),
    ]
  }

  /// An event that waits for a function.
  package struct WaitingEvent: AdminValue {
    package var namespace: String
    package var event: String
    /// When the event's commit was made; not given where the log was pruned.
    package var since: Timestamp?
    package var attempts: Int64
    package var nextAttemptAt: Timestamp

    package init(namespace: String, event: String, since: Timestamp? = nil, attempts: Int64, nextAttemptAt: Timestamp) {
      self.namespace = namespace
      self.event = event
      self.since = since
      self.attempts = attempts
      self.nextAttemptAt = nextAttemptAt
    }

    package static let notes: [String: FieldNote] = [
      "since": .text("when the event's commit was made")
    ]
  }

  /// An event that a function failed on.
  package struct FailedDelivery: AdminValue {
    package var namespace: String
    package var event: String
    package var error: String
    package var time: Timestamp

    package init(namespace: String, event: String, error: String, time: Timestamp) {
      self.namespace = namespace
      self.event = event
      self.error = error
      self.time = time
    }
  }
}
