import ServerApp
import TreeModel

/// Replays as people read them.
enum ReplayText {
  /// One line while it works.
  static func progress(_ record: JSON) -> String {
    let progress = record["progress"] ?? .null
    return "replay \(record["id"]?.int ?? 0): \((progress["given"]?.int ?? 0).grouped) given, "
      + "\((progress["scanned"]?.int ?? 0).grouped) looked at"
  }

  /// A replay with its counts.
  static func record(_ record: JSON) -> String {
    let order = record["order"] ?? .null
    let progress = record["progress"] ?? .null
    var lines = [
      "Replay \(record["id"]?.int ?? 0) (\(order["mode"]?.string ?? "?")) is \(record["state"]?.string ?? "?").",
      "  reason       \(order["reason"]?.string ?? "")", "  by           \(order["actor"]?.string ?? "")",
      "  begun        \((record["createdAt"] ?? .null).timeText)",
      "  given        \((progress["given"]?.int ?? 0).counted("event to a function", "events to functions"))",
    ]
    lines += counts("outcomes", progress["outcomes"])
    lines += counts("coins", progress["coins"])
    let already = progress["alreadyDone"]?.int ?? 0
    if already > 0 { lines.append("  already done \(already.grouped)") }
    let resting = progress["resting"]?.int ?? 0
    if resting > 0 { lines.append("  left alone   \(resting.grouped): they wait for their function, or for another event") }
    if let pruned = progress["pruned"]?.int {
      lines.append("  not seen     revisions 1 to \(pruned.grouped), which were pruned")
    }
    if let failure = progress["failure"]?.string { lines.append("  failed       \(failure)") }
    return lines.joined(separator: "\n").printable
  }

  /// What a replay would come to.
  static func preview(_ answer: JSON) -> String {
    (survey(answer) + trial(answer)).joined(separator: "\n").printable
  }

  /// What exactly would change.
  static func dryRun(_ answer: JSON) -> String {
    var lines = survey(answer) + trial(answer)
    var runs = TextTable([.text("EVENT"), .text("FUNCTION"), .text("WOULD END"), .text("RECORDED")])
    for run in answer.listed("runs") {
      let reason = run["reason"]?.string.map { ": \($0)" } ?? ""
      runs.add([
        run["event"]?.string ?? "?", run["function"]?.string ?? "?", (run["outcome"]?.string ?? "?") + reason,
        run["recorded"]?.string ?? "",
      ])
    }
    if !runs.isEmpty { lines += ["", runs.render()] }
    var tree = TextTable([.text("PATH"), .text("BEFORE"), .text("AFTER")])
    for change in answer.listed("tree") {
      tree.add([
        change["path"]?.string ?? "?", (change["before"] ?? .null).plainText, (change["after"] ?? .null).plainText,
      ])
    }
    lines += ["", tree.isEmpty ? "The tree would not change." : tree.render()]
    var entries = TextTable([.text("FROM"), .text("TO"), .number("AMOUNT"), .text("UNIT"), .text("KEY")])
    for entry in answer.listed("entries") {
      entries.add([
        entry["debit"]?.string ?? "?", entry["credit"]?.string ?? "?", (entry["amount"]?.int ?? 0).grouped,
        entry["unit"]?.string ?? "?", entry["key"]?.string ?? "?",
      ])
    }
    lines += ["", entries.isEmpty ? "No coins would move." : entries.render()]
    return (lines + divergences(answer)).joined(separator: "\n").printable
  }

  /// What a rebuild came to.
  static func rebuild(_ answer: JSON) -> String {
    let isEqual = answer["equal"]?.bool == true
    var lines = [
      isEqual ? "The recorded commits give the same store." : "NOT EQUAL: the recorded commits do not give this store.",
      "  through revision \((answer["through"]?.int ?? 0).grouped), \((answer["commits"]?.int ?? 0).counted("commit", "commits"))"
        + (answer["checkpoint"]?.int.map { " after the checkpoint of revision \($0.grouped)" } ?? ""),
      "  \((answer["entries"]?.int ?? 0).counted("ledger entry", "ledger entries")), "
        + (answer["executions"]?.int ?? 0).counted("execution", "executions"),
      "  recorded \(answer["recorded"]?.string ?? "?")", "  rebuilt  \(answer["rebuilt"]?.string ?? "?")",
    ]
    lines += answer.listed("faults").map { "  \($0.plainText)" }
    if let folder = answer["folder"]?.string { lines.append("  kept in \(folder)") }
    if let rerun = answer["rerun"] { lines += divergences(rerun) }
    return lines.joined(separator: "\n").printable
  }

  // MARK: Parts

  private static func survey(_ answer: JSON) -> [String] {
    let survey = answer["survey"] ?? .null
    var lines = [
      "\((survey["run"]?.int ?? 0).counted("event would be given to a function", "events would be given to functions")); "
        + "\((survey["alreadyDone"]?.int ?? 0).grouped) were handled before."
    ]
    for function in survey.listed("functions") {
      var line = "  \(function["name"]?.string ?? "?"): \((function["run"]?.int ?? 0).grouped) to run"
      if let resting = function["resting"]?.int, resting > 0 { line += ", \(resting.grouped) wait for something else" }
      if let handled = function["handledBy"] { line += "; handled by others: \(handled.plainText)" }
      lines.append(line)
    }
    if let pruned = answer["pruned"]?.int {
      lines.append("  Revisions 1 to \(pruned.grouped) were pruned and are not looked at.")
    }
    if let unknown = survey["unknownFunction"]?.int {
      lines.append("  \(unknown.counted("dead letter belongs", "dead letters belong")) to a function that is not registered.")
    }
    return lines
  }

  private static func trial(_ answer: JSON) -> [String] {
    let tried = answer["tried"]?.int ?? 0
    guard tried > 0 else { return [] }
    let all = answer["survey"]?["run"]?.int ?? tried
    let extent = tried < all ? "The first \(tried.grouped) of them, tried without effect:" : "Tried without effect:"
    return [extent] + counts("outcomes", answer["outcomes"]) + counts("coins", answer["coins"])
  }

  private static func counts(_ name: String, _ value: JSON?) -> [String] {
    let members = value?.object ?? []
    let text = members.map { "\(($0.value.int ?? 0).grouped) \($0.key)" }.joined(separator: ", ")
    let padding = String(repeating: " ", count: max(1, 13 - name.count))
    return text.isEmpty ? [] : ["  \(name)\(padding)\(text)"]
  }

  private static func divergences(_ answer: JSON) -> [String] {
    guard let compared = answer["compared"]?.int, compared > 0 else { return [] }
    let rows = answer.listed("divergences")
    let count = answer["divergent"]?.int ?? Int64(rows.count)
    guard count > 0 else {
      return ["", "\(compared.counted("handled event was", "handled events were")) run again: each would end as recorded."]
    }
    var table = TextTable([.text("EVENT"), .text("FUNCTION"), .text("RECORDED"), .text("TODAY")])
    for row in rows {
      table.add([
        row["event"]?.string ?? "?", row["function"]?.string ?? "?", row["recorded"]?.string ?? "?", row["now"]?.string ?? "?",
      ])
    }
    return ["", "\(count.grouped) of \(compared.grouped) handled events would end otherwise today:", table.render()]
  }
}
