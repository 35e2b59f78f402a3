import AdminModel
import ServerApp

/// Replays as people read them.
enum ReplayText {
  /// One line while it works.
  static func progress(_ replay: AdminReplays.Replay) -> String {
    "replay \(replay.id): \(replay.progress.given.grouped) given, \(replay.progress.scanned.grouped) looked at"
  }

  /// A replay with its counts.
  static func record(_ replay: AdminReplays.Replay) -> String {
    let (order, progress) = (replay.order, replay.progress)
    var lines = [
      "Replay \(replay.id) (\(order.mode.rawValue)) is \(replay.state.rawValue).", "  reason       \(order.reason)",
      "  by           \(order.actor)", "  begun        \(replay.createdAt.text)",
      "  given        \(progress.given.counted("event to a function", many: "events to functions"))",
    ]
    lines += counts("outcomes", counts: progress.outcomes) + counts("coins", counts: progress.coins)
    if progress.alreadyDone > 0 { lines.append("  already done \(progress.alreadyDone.grouped)") }
    if progress.resting > 0 {
      lines.append("  left alone   \(progress.resting.grouped): they wait for their function, or for another event")
    }
    if let pruned = progress.pruned { lines.append("  not seen     revisions 1 to \(pruned.grouped), which were pruned") }
    if let failure = progress.failure { lines.append("  failed       \(failure)") }
    return lines.joined(separator: "\n").printable
  }

  /// What a replay would come to.
  static func preview(_ trial: AdminReplays.Trial) -> String {
    (survey(trial) + summary(trial)).joined(separator: "\n").printable
  }

  /// What exactly would change.
  static func dryRun(_ trial: AdminReplays.Trial) -> String {
    var lines = survey(trial) + summary(trial)
    var runs = TextTable([.text("EVENT"), .text("FUNCTION"), .text("WOULD END"), .text("RECORDED")])
    for run in trial.runs ?? [] {
      runs.add([run.event, run.function, run.outcome + (run.reason.map { ": \($0)" } ?? ""), run.recorded])
    }
    if !runs.isEmpty { lines += ["", runs.render()] }
    var tree = TextTable([.text("PATH"), .text("BEFORE"), .text("AFTER")])
    for change in trial.tree ?? [] { tree.add([change.path, change.before.plainText, change.after.plainText]) }
    lines += ["", tree.isEmpty ? "The tree would not change." : tree.render()]
    var entries = TextTable([.text("FROM"), .text("TO"), .number("AMOUNT"), .text("UNIT"), .text("KEY")])
    for entry in trial.entries ?? [] {
      entries.add([entry.debit, entry.credit, entry.amount.grouped, entry.unit, entry.key])
    }
    lines += ["", entries.isEmpty ? "No coins would move." : entries.render()]
    if let compared = trial.compared {
      let found = trial.divergences ?? []
      lines += divergences(found, count: Int64(found.count), of: compared)
    }
    return lines.joined(separator: "\n").printable
  }

  /// What a rebuild came to.
  static func rebuild(_ rebuild: AdminReplays.Rebuild) -> String {
    var lines = [
      rebuild.equal
        ? "The recorded commits give the same store." : "NOT EQUAL: the recorded commits do not give this store.",
      "  through revision \(rebuild.through.grouped), \(rebuild.commits.counted("commit", many: "commits"))"
        + (rebuild.checkpoint.map { " after the checkpoint of revision \($0.grouped)" } ?? ""),
      "  \(rebuild.entries.counted("ledger entry", many: "ledger entries")), "
        + rebuild.executions.counted("execution", many: "executions"),
      "  recorded \(rebuild.recorded)", "  rebuilt  \(rebuild.rebuilt)",
    ]
    lines += rebuild.faults.map { "  \($0)" }
    if let folder = rebuild.folder { lines.append("  kept in \(folder)") }
    if let rerun = rebuild.rerun { lines += divergences(rerun.divergences, count: rerun.divergent, of: rerun.compared) }
    return lines.joined(separator: "\n").printable
  }

  // MARK: Parts

  private static func survey(_ trial: AdminReplays.Trial) -> [String] {
    let survey = trial.survey
    var lines = [
      "\(survey.run.counted("event would be given to a function", many: "events would be given to functions")); "
        + "\(survey.alreadyDone.grouped) were handled before."
    ]
    for function in survey.functions {
      var line = "  \(function.name): \(function.run.grouped) to run"
      if function.resting > 0 { line += ", \(function.resting.grouped) wait for something else" }
      if let handled = function.handledBy {
        line += "; handled by others: " + handled.members.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
      }
      lines.append(line)
    }
    if let pruned = trial.pruned { lines.append("  Revisions 1 to \(pruned.grouped) were pruned and are not looked at.") }
    if let unknown = survey.unknownFunction {
      lines.append(
        "  \(unknown.counted("dead letter belongs", many: "dead letters belong")) to a function that is not registered.")
    }
    return lines
  }

  private static func summary(_ trial: AdminReplays.Trial) -> [String] {
    let tried = trial.tried
    guard tried > 0 else { return [] }
    let extent =
      tried < trial.survey.run ? "The first \(tried.grouped) of them, tried without effect:" : "Tried without effect:"
    return [extent] + counts("outcomes", counts: trial.outcomes) + counts("coins", counts: trial.coins)
  }

  private static func counts(_ name: String, counts: NamedValues<Int64>) -> [String] {
    let text = counts.members.map { "\($0.value.grouped) \($0.name)" }.joined(separator: ", ")
    let padding = String(repeating: " ", count: max(1, 13 - name.count))
    return text.isEmpty ? [] : ["  \(name)\(padding)\(text)"]
  }

  private static func divergences(_ rows: [AdminReplays.Divergence], count: Int64, of compared: Int64) -> [String] {
    guard compared > 0 else { return [] }
    guard count > 0 else {
      return [
        "", "\(compared.counted("handled event was", many: "handled events were")) run again: each would end as recorded.",
      ]
    }
    var table = TextTable([.text("EVENT"), .text("FUNCTION"), .text("RECORDED"), .text("TODAY")])
    for row in rows { table.add([row.event, row.function, row.recorded, row.now]) }
    return ["", "\(count.grouped) of \(compared.grouped) handled events would end otherwise today:", table.render()]
  }
}
