import StorageCore
import TreeModel

/// Which events a listing shows.
struct EventFilter: Sendable {
  /// What became of an event, for one function or any.
  private static let outcomes = ["done", "skipped", "waiting", "paused", "dead", "pending"]

  private let function: String?
  private let outcome: String?
  /// Keys that the event's path must begin with.
  private let prefix: Path?
  /// A key that must occur in the path.
  private let uid: Key?
  /// The earliest commit, in milliseconds since 1970.
  let since: Int64?

  init(_ call: RouteCall) throws(APIError) {
    function = call.query["function"]
    outcome = call.query["outcome"]
    since = try call.integer("since")
    if let outcome, !Self.outcomes.contains(outcome) {
      throw .badRequest("outcome must be one of \(Self.outcomes.joined(separator: ", ")).")
    }
    do throws(PathError) {
      prefix = try call.query["path"].map { (text) throws(PathError) in try Path(parsing: text) }
      uid = try call.query["uid"].map { (text) throws(PathError) in try Key(text) }
    } catch {
      throw .badRequest(error.description)
    }
  }

  /// Whether the event itself fits; cheap, nothing is read for it.
  func admits(_ event: EventRecord) -> Bool {
    guard prefix != nil || uid != nil else { return true }
    guard let path = event.id.path.path else { return false }
    if let prefix, !prefix.contains(path) { return false }
    if let uid, !path.keys.contains(uid) { return false }
    return true
  }

  /// Whether what became of the event fits.
  func admits(_ executions: [ExecutionRecord], _ deliveries: [DeliveryRecord]) -> Bool {
    guard function != nil || outcome != nil else { return true }
    let ends = executions.map { ($0.function, $0.outcome.rawValue) } + deliveries.map { ($0.function, $0.state.rawValue) }
    if ends.isEmpty { return outcome == "pending" && function == nil }
    return ends.contains { (function == nil || $0.0 == function) && (outcome == nil || $0.1 == outcome) }
  }
}
