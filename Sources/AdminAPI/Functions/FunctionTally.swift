package import StorageCore

/// What a registered function did since the process started.
package struct FunctionTally: Sendable, Hashable {
  /// How its attempts ended.
  package enum Ending: String, Sendable, Hashable, CaseIterable {
    /// Done, with or without an effect.
    case done
    /// It had nothing to do.
    case skipped
    /// The event had been handled before; nothing was done.
    case repeated
    /// It failed; timeouts are among them.
    case failed
  }

  /// What it is registered as.
  package let function: String
  /// Attempts by how they ended.
  package var endings: [Ending: Int] = [:]
  /// Attempts that were abandoned at their deadline; they count as failed, too.
  package var timeouts = 0
  /// Events that it gave up on.
  package var deadLetters = 0
  /// Runs whose time was measured, and how long they took together, in nanoseconds.
  package var measuredRuns = 0
  package var nanoseconds: Int64 = 0
  /// The longest of these runs, in nanoseconds.
  package var slowest: Int64 = 0
  /// How long 50, 95 and 99 of 100 took at most, in nanoseconds; nil before the first.
  package var p50, p95, p99: Int64?
  /// How many of these runs took at most how long, in nanoseconds, and longer than the next shorter one here; a few hundred spans
  /// at most.
  package var spans: [Int64: Int] = [:]
  /// Runs on the writer, in the batch of their event.
  package var inlineRuns = 0
  /// Whether it runs there now.
  package var isInline = false
  /// Whether its events wait until a person resumes it.
  package var isPaused = false

  package init(function: String) {
    self.function = function
  }
}

/// What waits for functions at one moment.
package struct FunctionBacklog: Sendable, Hashable {
  /// A commit.
  package struct Place: Sendable, Hashable {
    package let namespace: NamespaceID
    package let revision: Revision

    package init(namespace: NamespaceID, revision: Revision) {
      self.namespace = namespace
      self.revision = revision
    }
  }

  /// Events that wait for a thread only.
  package var ready = 0
  /// Events that wait for an earlier one of their order key.
  package var behind = 0
  /// Of these, how many wait for a retry of that one.
  package var held = 0
  /// Runs that are under way.
  package var running = 0
  /// Threads that run functions.
  package var threads = 0
  /// Namespaces whose events are still to be read from storage.
  package var lagging = 0
  /// Of each namespace the first commit whose events are not all handled or on record.
  package var oldest: [Place] = []

  package init() {}
}
