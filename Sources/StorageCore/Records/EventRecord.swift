public import TreeModel

/// A change at a path that some registered function's pattern matched when it was committed.
///
/// Before and after are not stored: they come from the commit record and the tree as of the revision.
public struct EventRecord: Sendable, Hashable {
  /// What happened at the matched path.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case created
    case updated
    case deleted
  }

  /// Whose log it belongs to.
  public let namespace: NamespaceID
  public let id: EventID
  /// What happened at the matched path.
  public let kind: Kind
  /// How many functions stand between the first write and this event: 0 for a client's write.
  public let hop: Int

  public init(namespace: NamespaceID, id: EventID, kind: Kind, hop: Int) {
    self.namespace = namespace
    self.id = id
    self.kind = kind
    self.hop = hop
  }
}

/// What makes an event the same event: where and when something changed, whatever is registered.
///
/// A function deployed years later derives the same ids from the log. The namespace is not part of the value:
/// everything that has a name is scoped by its namespace. The text form is `epoch-revision:path`, as in
/// `1-42:/users/bob/level`.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
  /// Counts the restores of the data: revisions repeat after a restore, events do not.
  public let epoch: Int64
  /// The commit that changed it.
  public let revision: Revision
  /// The place that a pattern matched; what changed is there or below.
  public let path: PathBytes

  public init(epoch: Int64, revision: Revision, path: PathBytes) {
    self.epoch = epoch
    self.revision = revision
    self.path = path
  }

  public var description: String {
    "\(epoch)-\(revision):\(path.path?.description ?? "?")"
  }

  /// Reads the text form; nil if it is not one.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let numbers = text[..<colon].split(separator: "-", omittingEmptySubsequences: false)
    guard numbers.count == 2, let epoch = Int64(numbers[0]), let revision = Int64(numbers[1]),
      let path = try? Path(parsingInternal: text[text.index(after: colon)...])
    else { return nil }
    self.init(epoch: epoch, revision: Revision(revision), path: PathBytes(path))
  }
}

/// A place in a namespace's event log: before or after the events of a revision, or at one of them.
public struct EventPosition: Sendable, Hashable {
  /// The commit that caused the events.
  public let revision: Revision
  /// nil stands before the revision's first event.
  public let path: PathBytes?

  public init(revision: Revision, path: PathBytes?) {
    self.revision = revision
    self.path = path
  }
}

/// An event that a function could not finish at once: it waits for a retry, is paused, or is a dead letter.
///
/// A pair of event and function has an execution record, a delivery record, or neither (not yet looked at); never both.
public struct DeliveryRecord: Sendable, Hashable {
  /// What it waits for: its time (`waiting`), its function (`paused`), or a person (`dead`).
  public enum State: String, Sendable, Hashable, CaseIterable {
    case waiting
    case paused
    case dead
  }

  /// Which event.
  public let event: EventID
  /// What happened at the event's path.
  public let kind: EventRecord.Kind
  /// How many functions stand between the first write and the event.
  public let hop: Int
  /// Which function could not finish it.
  public let function: String
  /// What it waits for.
  public let state: State
  /// Attempts that ended in a failure so far.
  public let attempts: Int
  /// How many of them ended with the death of the process.
  public let crashes: Int
  /// When to try again, in milliseconds since 1970; meaningful while waiting.
  public let nextAttemptAt: Int64
  /// Why the last attempt failed, or why the function is paused; for people.
  public let lastError: String
  /// When this was written, in milliseconds since 1970.
  public let updatedAt: Int64

  public init(
    event: EventID, kind: EventRecord.Kind, hop: Int, function: String, state: State, attempts: Int, crashes: Int,
    nextAttemptAt: Int64, lastError: String, updatedAt: Int64
  ) {
    self.event = event
    self.kind = kind
    self.hop = hop
    self.function = function
    self.state = state
    self.attempts = attempts
    self.crashes = crashes
    self.nextAttemptAt = nextAttemptAt
    self.lastError = lastError
    self.updatedAt = updatedAt
  }
}

/// The end of a function's work on an event: written once, in the transaction of the effect.
public struct ExecutionRecord: Sendable, Hashable {
  /// How it ended. A failure is no end: see ``DeliveryRecord``.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case done
    case skipped
  }

  /// Which event it ran for.
  public let event: EventID
  /// Which function ran.
  public let function: String
  /// How it ended.
  public let outcome: Outcome
  /// Why it was skipped; when done: what of a late run was not written, nil if all was.
  public let reason: String?
  /// Which attempt this was, from 1.
  public let attempt: Int
  /// Milliseconds since 1970.
  public let startedAt: Int64
  /// Milliseconds since 1970.
  public let finishedAt: Int64
  /// The commit of the effect; nil if the run changed nothing. The pipeline fills it in.
  public var effect: Revision?
  /// The function's settings of this run, as JSON.
  public let settings: String?

  public init(
    event: EventID, function: String, outcome: Outcome, reason: String?, attempt: Int, startedAt: Int64, finishedAt: Int64,
    effect: Revision? = nil, settings: String?
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
}

/// An attempt that ended in a failure, kept forever: what was tried, with which settings, and why it did not work.
///
/// What comes next is in the ``DeliveryRecord``; an attempt that succeeded has an ``ExecutionRecord``.
public struct FailedAttempt: Sendable, Hashable {
  /// For which event.
  public let event: EventID
  /// Which function.
  public let function: String
  /// The number of the attempt, from 1; counted from 1 again after a replay.
  public let attempt: Int
  /// Milliseconds since 1970; nil if the process died in the attempt, and with it the memory of when it began.
  public let startedAt: Int64?
  /// Milliseconds since 1970.
  public let finishedAt: Int64
  /// Why; for people.
  public let error: String
  /// The function's settings of this run, as JSON.
  public let settings: String?

  public init(
    event: EventID, function: String, attempt: Int, startedAt: Int64?, finishedAt: Int64, error: String, settings: String?
  ) {
    self.event = event
    self.function = function
    self.attempt = attempt
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.error = error
    self.settings = settings
  }
}
