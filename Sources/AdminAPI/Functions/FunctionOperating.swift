package import HTTPServer
import NIOHTTP1
package import PlayerLifecycle
package import StorageCore

/// What administrators can do with functions and their events; `ServerApp` implements it over the dispatcher. What is not done
/// throws ``OperationError``.
package protocol FunctionOperating: FunctionActivity {
  /// The registered functions, and those that the store still remembers.
  func functionRecords() throws -> [FunctionRecord]
  /// Stops giving events to a function; they wait.
  func pause(_ function: String, reason: String, by actor: Actor) async throws
  /// Goes on, with the events that waited.
  func resume(_ function: String, by actor: Actor) async throws
  /// Gives a function its dead letters once more.
  ///
  /// - Returns: how many.
  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws -> Int
  /// Gives an event to its functions again; those that handled it do nothing.
  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws
  /// Drops what is known of a namespace that no longer exists.
  func forget(_ namespace: NamespaceID)
  /// What keeps functions from working; empty if all is well.
  var problems: [String] { get }
  /// How long the runs of each registered function take, and where they happen.
  var paces: [FunctionPaceReport] { get }
  /// What each registered function did since the process started.
  var tallies: [FunctionTally] { get }
  /// What waits for functions now.
  var backlog: FunctionBacklog { get }
}

/// How long a function's runs take, and where they happen.
package struct FunctionPaceReport: Sendable, Hashable {
  /// What it is registered as.
  package let function: String
  /// Whether it runs on the writer now, in the batch of its event.
  package let isInline: Bool
  /// How many of its runs did, since the process started.
  package let inlineRuns: Int
  /// The mean time of its last runs, in nanoseconds; nil before the first.
  package let meanTime: Int64?

  package init(function: String, isInline: Bool, inlineRuns: Int, meanTime: Int64?) {
    self.function = function
    self.isInline = isInline
    self.inlineRuns = inlineRuns
    self.meanTime = meanTime
  }
}

extension FunctionOperating {
  /// Nothing is remembered, so there is nothing to drop.
  package func forget(_ namespace: NamespaceID) {}

  /// Nothing is measured.
  package var paces: [FunctionPaceReport] { [] }

  /// Nothing is counted.
  package var tallies: [FunctionTally] { [] }

  /// Nothing waits.
  package var backlog: FunctionBacklog { FunctionBacklog() }
}

/// Why an administrator's action was not carried out.
package struct OperationError: Error, Sendable, Hashable {
  /// What kind of reason; the text is what clients see.
  package enum Code: String, Sendable, Hashable {
    case notFound = "not_found"
    case conflict
    case invalid = "invalid_argument"
    case unavailable
  }

  /// What kind of reason.
  package let code: Code
  /// What is wrong, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension OperationError: APIErrorConvertible {
  package var apiError: APIError {
    let status: HTTPResponseStatus =
      switch code {
      case .notFound: .notFound
      case .conflict: .conflict
      case .invalid: .badRequest
      case .unavailable: .serviceUnavailable
      }
    return APIError(status, code.rawValue, message)
  }
}
