import ServerApp
import TreeModel

/// One event as a page of text.
struct EventPage {
  let event: JSON

  var text: String {
    var sections = [head]
    if event["before"] != nil || event["after"] != nil { sections.append(change) }
    for run in event.runs { sections.append(lines(of: run)) }
    if event.runs.isEmpty { sections.append(["No function has run for it."]) }
    let failures = event.listed("failures")
    if !failures.isEmpty { sections.append(["Attempts that failed"] + lines(of: failures)) }
    let effects = event.listed("effects")
    if !effects.isEmpty { sections.append(["Effects"] + effects.map { "  \($0.plainText)" }) }
    let entries = event.listed("entries")
    if !entries.isEmpty {
      sections.append(["Ledger"] + LedgerText.entries(entries).lines().map { "  \($0)" })
    }
    for (title, name) in [("Events that came of it", "children"), ("Messages to the outside", "outbox")] {
      let rows = event.listed(name)
      if !rows.isEmpty { sections.append([title] + rows.map { "  \($0.plainText)" }) }
    }
    return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n").printable
  }

  private var head: [String] {
    var lines = ["Event      \(event["id"]?.string ?? "?")"]
    add("Path", event["path"], to: &lines)
    add("Kind", event["kind"], to: &lines)
    let invocation = event["invocation"]
    lines.append("Time       \((event["time"] ?? invocation?["time"])?.timeText ?? "-")")
    if let invocation {
      lines.append("Run by hand by \(invocation["actor"]?.string ?? "?"), as if \(invocation["as"]?.string ?? "?") had written")
      add("Reason", invocation["reason"], to: &lines)
    } else {
      add("Revision", event["revision"], to: &lines)
    }
    add("Written by", event["actor"], to: &lines)
    add("Request", event["requestId"], to: &lines)
    add("Cause", event["cause"], to: &lines)
    add("Hop", event["hop"], to: &lines)
    for match in event.listed("matches") {
      let captures = match["captures"].map { $0.plainText.isEmpty ? "" : " (\($0.plainText))" } ?? ""
      add(
        "Match", .string("\(match["function"]?.plainText ?? "?") at \(match["pattern"]?.plainText ?? "?")\(captures)"),
        to: &lines)
    }
    if let erased = event["erased"] {
      add(
        "Erased", .string("\(erased["path"]?.string ?? "?"), up to revision \(erased["through"]?.plainText ?? "?")"), to: &lines
      )
    }
    if event["write"]?["triggers"] == false { lines.append("Triggers   suppressed") }
    if let count = event["write"]?["changeCount"]?.int, count > 1 {
      lines.append("Write      \(count.counted("change", "changes")), of which this is one")
    }
    return lines
  }

  private var change: [String] {
    [
      "Change", "  before   \((event["before"] ?? .null).compactText)", "  after    \((event["after"] ?? .null).compactText)",
    ]
  }

  /// One line for each attempt; an error that was printed already is not printed again.
  private func lines(of failures: [JSON]) -> [String] {
    var printed = Set(event.runs.compactMap { $0["lastError"]?.string })
    return failures.map { failure in
      let isNew = failure["error"]?.string.map { printed.insert($0).inserted } ?? true
      return line(of: failure, error: isNew ? failure["error"]?.plainText ?? "" : "the same error")
    }
  }

  private func line(of failure: JSON, error: String) -> String {
    let settings = failure["settings"].map { ", with \($0.compactText)" } ?? ""
    return "  \(failure["finishedAt"]?.timeText ?? "-")  \(failure["function"]?.plainText ?? "?"), attempt "
      + "\(failure["attempt"]?.plainText ?? "?")\(settings): \(error)"
  }

  private func lines(of run: JSON) -> [String] {
    let row = EventRow.rows(of: ["id": event["id"] ?? .null, "executions": .array([run])])[0]
    let lines = ["\(row.function): \(row.outcome)" + (row.reason.isEmpty ? "" : " (\(row.reason))")]
    // What the title says is not said again.
    var table = TextTable([.text("name"), .text("value")])
    for member in run.object ?? [] where !Self.titleMembers.contains(member.key) {
      guard !member.value.isNull else { continue }
      let isTime = member.key.hasSuffix("At")
      table.add([member.key, isTime ? member.value.timeText : member.value.plainText])
    }
    return lines + table.lines(showsTitles: false).map { "  \($0)" }
  }

  private static let titleMembers: Set<String> = [
    "event", "function", "outcome", "state", "reason", "lastError", "kind", "hop",
  ]

  private func add(_ name: String, _ value: JSON?, to lines: inout [String]) {
    guard let value, !value.isNull else { return }
    lines.append(name + String(repeating: " ", count: max(1, 11 - name.count)) + value.plainText)
  }
}

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
