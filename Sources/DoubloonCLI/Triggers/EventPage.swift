import AdminModel
import ServerApp
import TreeModel

/// One event as a page of text.
struct EventPage {
  let event: AdminEvents.Detail

  var text: String {
    var sections = [head, change]
    sections += event.executions.map { EventRow(event, $0).section($0.details) }
    sections += event.deliveries.map { EventRow(event, $0).section($0.details) }
    if event.executions.isEmpty, event.deliveries.isEmpty { sections.append(["No function has run for it."]) }
    if !event.failures.isEmpty { sections.append(["Attempts that failed"] + failureLines) }
    if !event.effects.isEmpty {
      sections.append(["Effects"] + event.effects.map { "  \(JSON(encoding: $0).plainText)" })
    }
    if !event.entries.isEmpty {
      sections.append(["Ledger"] + LedgerText.table(of: event.entries).lines().map { "  \($0)" })
    }
    if !event.children.isEmpty {
      sections.append(["Events that came of it"] + event.children.map { "  id \($0.id), kind \($0.kind.rawValue)" })
    }
    if !event.outbox.isEmpty {
      sections.append(["Messages to the outside"] + event.outbox.map { "  \(JSON(encoding: $0).plainText)" })
    }
    return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n").printable
  }

  private var head: [String] {
    var lines = [
      Self.line("Event", value: event.id), Self.line("Path", value: event.path), Self.line("Kind", value: event.kind.rawValue),
    ]
    lines.append(Self.line("Time", value: (event.time ?? event.invocation?.time).text))
    if let invocation = event.invocation {
      lines.append("Run by hand by \(invocation.actor), as if \(invocation.actingAs) had written")
      lines.append(Self.line("Reason", value: invocation.reason))
    } else {
      lines.append(Self.line("Revision", value: String(event.revision)))
    }
    if let actor = event.actor { lines.append(Self.line("Written by", value: actor)) }
    if let request = event.requestID { lines.append(Self.line("Request", value: request)) }
    if let cause = event.cause { lines.append(Self.line("Cause", value: "event \(cause.event), function \(cause.function)")) }
    lines.append(Self.line("Hop", value: String(event.hop)))
    for match in event.matches {
      let captures = match.captures.members.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
      lines.append(
        Self.line("Match", value: "\(match.function) at \(match.pattern)" + (captures.isEmpty ? "" : " (\(captures))")))
    }
    if let erased = event.erased {
      lines.append(Self.line("Erased", value: "\(erased.path), up to revision \(erased.through)"))
    }
    if event.write.value?.triggers == false { lines.append(Self.line("Triggers", value: "suppressed")) }
    if let count = event.write.value?.changeCount, count > 1 {
      lines.append(Self.line("Write", value: "\(count.counted("change", many: "changes")), of which this is one"))
    }
    return lines
  }

  private static func line(_ name: String, value: String) -> String {
    name + String(repeating: " ", count: max(1, 11 - name.count)) + value
  }

  private var change: [String] {
    ["Change", "  before   \(event.before.compactText)", "  after    \(event.after.compactText)"]
  }

  /// One line for each attempt; an error that was printed already is not printed again.
  private var failureLines: [String] {
    var printed = Set(event.deliveries.map(\.lastError))
    return event.failures.map { failure in
      let error = printed.insert(failure.error).inserted ? failure.error : "the same error"
      let settings = failure.settings.map { ", with \($0.compactText)" } ?? ""
      return "  \(failure.finishedAt.text)  \(failure.function), attempt \(failure.attempt)\(settings): \(error)"
    }
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

  /// The lines of an event: finished runs first, then what waits or failed.
  static func rows(of event: AdminEvents.Event) -> [EventRow] {
    let rows = event.executions.map { EventRow(event, $0) } + event.deliveries.map { EventRow(event, $0) }
    // An event without a run was not looked at yet, or no function wanted it.
    return rows.isEmpty ? [EventRow(event)] : rows
  }

  private init(
    _ event: some LoggedEvent, function: String = "-", outcome: String = "-", reason: String = "", attempts: Int64? = nil
  ) {
    self.event = event.id
    time = event.time.text
    kind = event.kind.rawValue
    actor = event.actor ?? "-"
    self.function = function
    self.outcome = outcome
    self.reason = reason
    self.attempts = attempts.map { String($0) } ?? ""
  }

  init(_ event: some LoggedEvent, _ execution: AdminEvents.Execution) {
    self.init(
      event, function: execution.function, outcome: execution.outcome.rawValue, reason: execution.reason ?? "",
      attempts: execution.attempt)
  }

  init(_ event: some LoggedEvent, _ delivery: AdminEvents.Delivery) {
    self.init(
      event, function: delivery.function, outcome: delivery.state.rawValue, reason: delivery.lastError,
      attempts: delivery.attempts)
  }

  /// A title, and below it what the title does not say.
  fileprivate func section(_ values: [(name: String, value: String)]) -> [String] {
    var table = TextTable([.text("name"), .text("value")])
    for (name, value) in values { table.add([name, value]) }
    return ["\(function): \(outcome)" + (reason.isEmpty ? "" : " (\(reason))")]
      + table.lines(showsTitles: false).map { "  \($0)" }
  }
}

/// What the list of events and the page of one have in common.
protocol LoggedEvent {
  var id: String { get }
  var kind: AdminEvents.Kind { get }
  var time: Timestamp? { get }
  var actor: String? { get }
}

extension AdminEvents.Event: LoggedEvent {}
extension AdminEvents.Detail: LoggedEvent {}

extension AdminEvents.Execution {
  /// What the title of its section does not say.
  fileprivate var details: [(name: String, value: String)] {
    [("attempt", String(attempt)), ("startedAt", startedAt.text), ("finishedAt", finishedAt.text)]
      + [effect.map { ("effect", String($0)) }, settings.map { ("settings", $0.plainText) }].compactMap(\.self)
  }
}

extension AdminEvents.Delivery {
  /// What the title of its section does not say.
  fileprivate var details: [(name: String, value: String)] {
    [("attempts", String(attempts)), ("crashes", String(crashes))]
      + [nextAttemptAt.map { ("nextAttemptAt", $0.text) }].compactMap(\.self) + [("updatedAt", updatedAt.text)]
  }
}
