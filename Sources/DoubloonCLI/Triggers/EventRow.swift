import TreeModel

/// One line of the trigger log: an event and one of the functions that want it.
struct EventRow: Sendable {
  let event: String
  let time: String
  let kind: String
  let actor: String
  /// Empty if no function wants the event.
  let function: String
  let outcome: String
  /// Why it was skipped, or what it failed with.
  let reason: String
  let attempts: String

  static let columns: [TextTable.Column] = [
    .text("TIME"), .text("EVENT"), .text("KIND"), .text("BY"), .text("FUNCTION"), .text("OUTCOME"), .number("TRIES"),
    .text("REASON"),
  ]

  var cells: [String] { [time, event, kind, actor, function, outcome, attempts, reason] }

  /// What tells two states of the same line apart, for following.
  var identity: [String] { [event, function, outcome, attempts] }

  /// The lines of an event as the admin surface lists it.
  static func rows(of event: JSON) -> [EventRow] {
    let runs = event.runs
    guard !runs.isEmpty else { return [EventRow(event, run: .null)] }
    return runs.map { EventRow(event, run: $0) }
  }

  private init(_ event: JSON, run: JSON) {
    self.event = event["id"]?.string ?? "?"
    time = event["time"]?.timeText ?? "-"
    kind = event["kind"]?.string ?? "-"
    actor = event["actor"]?.plainText ?? "-"
    function = run["function"]?.string ?? "-"
    // An event without a run was not looked at yet, or no function wanted it.
    outcome = run["outcome"]?.string ?? run["state"]?.string ?? "-"
    reason = run["reason"]?.string ?? run["lastError"]?.string ?? ""
    attempts = (run["attempt"] ?? run["attempts"])?.plainText ?? ""
  }
}

extension JSON {
  /// What became of an event: finished runs first, then what waits or failed.
  var runs: [JSON] { listed("executions") + listed("deliveries") }
}
