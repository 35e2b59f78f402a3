package import TreeModel

/// The functions: what there is, and their brakes.
package enum AdminFunctions {
  private static let name = EndpointParameter.capture("name", text: "The function's name.")

  package static let list = Endpoint<WindowQuery, NoBody, List>(
    .get, "/admin/v1/functions", "The functions, with their state and what they did lately.")
  package static let show = Endpoint<WindowQuery, NoBody, Detail>(
    .get, "/admin/v1/functions/{name}",
    "One function: its settings and their defaults, what its runs came to, what waits for it.", captures: [name])
  package static let pause = Endpoint<NoQuery, PauseOrder, Done>(
    .post, "/admin/v1/functions/{name}/pause", "Lets a function's events wait; body: reason.", access: .support,
    captures: [name])
  package static let resume = Endpoint<NoQuery, EmptyBody, Done>(
    .post, "/admin/v1/functions/{name}/resume", "Goes on, with the events that waited.", access: .support, captures: [name])
  package static let retry = Endpoint<NoQuery, EmptyBody, Retried>(
    .post, "/admin/v1/functions/{name}/retry", "Tries the function's dead letters once more.", access: .support,
    isScoped: true, captures: [name])
  package static let invoke = Endpoint<NoQuery, InvocationOrder, AdminReplays.Item>(
    .post, "/admin/v1/functions/{name}/invoke",
    "Runs a function by hand on an event that never happened; body: path, before, after, as, reason.", access: .admin,
    isScoped: true, captures: [name])
  package static let invocations = Endpoint<InvocationQuery, NoBody, InvocationList>(
    .get, "/admin/v1/invocations", "Functions that were run by hand, newest first; before, limit.", isScoped: true)

  /// What one function gave up on, or failed on and tries again: so many, and the last of them.
  package struct DeliveryFailures: AdminValue {
    package var count: Int64
    /// Of the last one.
    package var namespace: String
    package var event: String
    package var attempts: Int64
    package var error: String
    package var time: Timestamp

    package init(count: Int64, namespace: String, event: String, attempts: Int64, error: String, time: Timestamp) {
      self.count = count
      self.namespace = namespace
      self.event = event
      self.attempts = attempts
      self.error = error
      self.time = time
    }

    package static let notes: [String: FieldNote] = [
      "namespace": .text("of the last one")
    ]
  }

  /// How long a function's runs take, and where they happen.
  package struct Pace: AdminValue {
    /// Whether it runs on the writer now, in the batch of its event.
    package var inline: Bool
    /// How many of its runs did, since the process started.
    package var inlineRuns: Int64
    /// The mean time of its last runs; not given before the first.
    package var meanNanoseconds: Int64?

    package init(inline: Bool, inlineRuns: Int64, meanNanoseconds: Int64? = nil) {
      self.inline = inline
      self.inlineRuns = inlineRuns
      self.meanNanoseconds = meanNanoseconds
    }

    package static let notes: [String: FieldNote] = [
      "inline": .text("whether it runs on the writer now, in the batch of its event"),
      "inlineRuns": .text("how many of its runs did, since the process started"),
      "meanNanoseconds": .text("the mean time of its last runs"),
    ]
  }

  /// A function, registered or remembered, with its state.
  package struct Function: AdminValue {
    package var name: String
    package var pattern: String
    package var kinds: String
    package var paused: Bool
    package var pauseReason: String?
    package var updatedAt: Timestamp
    /// With their values, its limits among them.
    package var settings: JSON?
    /// What it gave up on: so many, and the last of them.
    package var deadLetters: DeliveryFailures?
    /// What it failed on, and tries again.
    package var retries: DeliveryFailures?
    /// How long its runs take, and where they happen; not given for one that is only remembered.
    package var pace: Pace?
    /// What became of its runs lately; not given for one that is only remembered.
    package var recent: Recent?

    package init(
      name: String, pattern: String, kinds: String, paused: Bool, pauseReason: String? = nil, updatedAt: Timestamp,
      settings: JSON? = nil, deadLetters: DeliveryFailures? = nil, retries: DeliveryFailures? = nil,
      pace: Pace? = nil, recent: Recent? = nil
    ) {
      self.name = name
      self.pattern = pattern
      self.kinds = kinds
      self.paused = paused
      self.pauseReason = pauseReason
      self.updatedAt = updatedAt
      self.settings = settings
      self.deadLetters = deadLetters
      self.retries = retries
      self.pace = pace
      self.recent = recent
    }

    package static let schemaName: String? = "Function"

    package static let notes: [String: FieldNote] = [
      "settings": .text("with their values, its limits among them"),
      "deadLetters": .text("what it gave up on: so many, and the last of them"),
      "retries": .text("what it failed on, and tries again"),
      "pace": .text("how long its runs take, and where they happen"),
      "recent": .text("what became of its runs in the window that was asked for"),
    ]
  }

  /// The functions.
  package struct List: AdminValue {
    package var functions: [Function]

    package init(functions: [Function]) {
      self.functions = functions
    }
  }

  /// Why a function gets no more events.
  package struct PauseOrder: AdminValue {
    /// Why, for the record.
    package var reason: String?

    package init(reason: String? = nil) {
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "reason": .text("why, for the record")
    ]
  }

  /// How many dead letters are tried once more.
  package struct Retried: AdminValue {
    package var status: Done.Status
    /// How many.
    package var retried: Int64

    package init(status: Done.Status, retried: Int64) {
      self.status = status
      self.retried = retried
    }

    package static let notes: [String: FieldNote] = [
      "retried": .text("how many")
    ]
  }

  /// A function to run by hand on an event that never happened.
  package struct InvocationOrder: AdminValue {
    /// Where the event is said to have happened.
    package var path: String
    /// Nothing if it is not given.
    package var before: JSON?
    /// Nothing if it is not given.
    package var after: JSON?
    /// An actor: user:bob, anonymous.
    package var actingAs: String?
    /// Why, for the record.
    package var reason: String

    private enum CodingKeys: String, CodingKey {
      case path
      case before
      case after
      case actingAs = "as"
      case reason
    }

    package init(path: String, before: JSON? = nil, after: JSON? = nil, actingAs: String? = nil, reason: String) {
      self.path = path
      self.before = before
      self.after = after
      self.actingAs = actingAs
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "path": .only(.filled, text: "where the event is said to have happened"),
      "before": .text("nothing if it is not given"),
      "after": .text("nothing if it is not given"),
      "as": .only(.filled, text: "an actor: user:bob, anonymous"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// Which runs by hand are wanted.
  package struct InvocationQuery: AdminValue {
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

  /// Functions that were run by hand.
  package struct InvocationList: AdminValue {
    package var invocations: [AdminEvents.Invocation]
    /// The next page's before.
    package var next: Int64?

    package init(invocations: [AdminEvents.Invocation], next: Int64? = nil) {
      self.invocations = invocations
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's before")
    ]
  }
}
