import TreeModel

extension AdminFunctions {
  /// How far back one looks at the runs of functions.
  package enum Window: String, AdminWord, Hashable, CaseIterable {
    case hour = "1h"
    case sixHours = "6h"
    case day = "24h"

    /// In milliseconds.
    package var length: Int64 {
      switch self {
      case .hour: 3_600_000
      case .sixHours: 6 * 3_600_000
      case .day: 24 * 3_600_000
      }
    }
  }

  /// Of which time the runs are wanted.
  package struct WindowQuery: AdminValue {
    package var window: Window?

    package init(window: Window? = nil) {
      self.window = window
    }

    package static let notes: [String: FieldNote] = [
      "window": .text("How far back \"recent\" goes: 24h if it is not given.")
    ]
  }

  /// What became of a function's runs lately. It is kept in memory, in parts of a quarter of an hour.
  package struct Recent: AdminValue {
    package var window: Window
    /// The first moment that is counted: the window's, or the start of the process.
    package var since: Timestamp
    /// Attempts, however they ended.
    package var runs: Int64
    /// Attempts by how they ended: done, skipped, repeated, failed.
    package var outcomes: NamedValues<Int64>
    /// How long 50, 95 and 99 of 100 took at most, up to a quarter more than measured; not given where none was measured.
    package var p50Nanoseconds: Int64?
    package var p95Nanoseconds: Int64?
    package var p99Nanoseconds: Int64?

    package init(
      window: Window, since: Timestamp, runs: Int64, outcomes: NamedValues<Int64>, p50Nanoseconds: Int64? = nil,
      p95Nanoseconds: Int64? = nil, p99Nanoseconds: Int64? = nil
    ) {
      self.window = window
      self.since = since
      self.runs = runs
      self.outcomes = outcomes
      self.p50Nanoseconds = p50Nanoseconds
      self.p95Nanoseconds = p95Nanoseconds
      self.p99Nanoseconds = p99Nanoseconds
    }

    package static let notes: [String: FieldNote] = [
      "since": .text("the first moment that is counted: a quarter of an hour's, or the start of the process"),
      "runs": .text("attempts, however they ended"),
      "outcomes": .only(.object([]), text: "attempts by how they ended: done, skipped, repeated, failed"),
      "p50Nanoseconds": .text("half of these took no longer; up to a quarter more than measured"),
      "p95Nanoseconds": .text("95 of 100 of these took no longer; up to a quarter more than measured"),
      "p99Nanoseconds": .text("99 of 100 of these took no longer; up to a quarter more than measured"),
    ]
  }
}
