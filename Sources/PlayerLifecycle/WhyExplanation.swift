import RewardModel
import StorageCore
import TextFormats
import TreeModel

/// Turns a ``WhyReport`` into sentences. Pure.
package enum WhyExplanation {
  /// The whole answer, line by line.
  package static func page(_ report: WhyReport) -> [String] {
    let uid = report.uid.text
    guard report.isKnown else {
      return [
        "There is no player \(uid): no account, no record where balances stand, nothing that a function looked at, no coins, "
          + "and nobody's record names it. Is it spelled right? (doubloon accounts list)"
      ]
    }
    var lines = report.erasure.map { [erased($0), ""] } ?? []
    for story in report.stories {
      lines += [head(of: story)] + body(of: story).map { "  " + $0 } + [""]
    }
    lines += deadLetters(report)
    for function in report.spread {
      lines += [
        "\(function.name) runs on \(function.runsOn) at \(function.pattern), which is not one place. Its events: "
          + "doubloon triggers list --uid \(quoted(uid)) --function \(quoted(function.name))", "",
      ]
    }
    if report.stories.isEmpty, report.spread.isEmpty { lines += ["No function looks for \(uid).", ""] }
    if report.payments.isEmpty {
      lines.append("No coins ever moved on an account of \(uid).")
    } else {
      lines.append("On the accounts of \(uid):")
      lines += report.payments.reversed().map { "  " + sentence($0) }
      if let next = report.nextPayment {
        lines.append("  Earlier entries: doubloon ledger statement \(quoted(uid)) --before \(next)")
      }
    }
    for mention in report.mentions {
      lines += ["", "\(mention.path) names \(uid):"]
      for story in mention.stories { lines += ["  " + head(of: story)] + body(of: story).map { "    " + $0 } }
    }
    if !report.sawAllMentions {
      lines += [
        "", "Not every player's record was looked through for \(uid): ask for the other player, too (doubloon why PLAYER).",
      ]
    }
    return lines
  }

  /// What functions gave up on beyond the stories.
  private static func deadLetters(_ report: WhyReport) -> [String] {
    var lines = report.deadLetters.flatMap { letter -> [String] in
      let (record, name) = (letter.record, letter.record.function)
      let failed = "\(name) gave up on \(record.event) after \(times(record.attempts)): \(record.lastError)"
      let way =
        letter.isRegistered
        ? "Once the cause is mended: \(replayCommand(of: record.event, function: name))"
        : "No function of that name is registered any more."
      return [failed, "  \(way)", ""]
    }
    if !report.sawAllDeadLetters {
      lines += ["There are more dead letters: doubloon triggers list --outcome dead --uid \(quoted(report.uid.text))", ""]
    }
    return lines
  }

  /// That a player left, and what is still known.
  private static func erased(_ erasure: ErasureRecord) -> String {
    let name = "\(erasure.uid)"
    guard let order = erasure.order else {
      return "\(name) is being erased since \(time(erasure.orderedAt)) (\(erasure.actor): \(erasure.reason)). To go on: "
        + "doubloon accounts erase \(quoted(name)) --reason \(quoted(erasure.reason))"
    }
    return "\(name) was erased on \(time(erasure.finishedAt ?? erasure.orderedAt)) by \(erasure.actor) "
      + "(\(erasure.reason)). What the record and the account held up to revision \(order) is not known any more; what the "
      + "ledger says is."
  }

  // MARK: A function

  /// What a function looks at, and what is the matter with it.
  static func head(of story: FunctionStory) -> String {
    var text = "\(story.function.name) runs on \(story.function.runsOn) at \(story.path)."
    if let reason = story.pauseReason { text += " It is paused\(reason.isEmpty ? "" : " (\(reason))")." }
    return text
  }

  /// The changes, oldest first; those that the function does not run on share a sentence.
  static func body(of story: FunctionStory) -> [String] {
    var lines: [String] = []
    if !story.isComplete { lines.append("Earlier changes: doubloon data log \(quoted(story.path))") }
    if story.prunedThrough > .zero { lines.append("The log was pruned up to revision \(story.prunedThrough).") }
    if story.isErased { lines.append("What was written there before was erased.") }
    if story.changes.isEmpty {
      // The pruned part of the log may have had changes.
      let rest = story.prunedThrough > .zero ? "Nothing was written there since." : "Nothing was ever written there."
      return story.isErased ? lines : lines + [rest]
    }
    let isAllUnwanted = story.changes.allSatisfy(\.fate.isUnwanted)
    var rest = story.changes[...]
    while let change = rest.first {
      let group = change.fate.isUnwanted ? rest.prefix { $0.fate.isUnwanted } : rest.prefix(1)
      rest = rest.dropFirst(group.count)
      lines.append(
        "\(time(change.time))  \(group.map { happened($0.happening) }.joined(separator: "; ")): "
          + fate(of: change, in: story) + ".")
      let isLast = rest.isEmpty
      if let last = group.last, !last.fate.isUnwanted || (isLast && isAllUnwanted), let repair = repair(last, in: story) {
        lines.append("    \(repair.words) \(repair.command)")
      }
    }
    return lines
  }

  /// One change and what became of it, as one sentence.
  package static func sentence(_ change: ChangeStory, in story: FunctionStory) -> String {
    "\(happened(change.happening)): \(fate(of: change, in: story))."
  }

  /// `level went from 3 to 6`.
  static func happened(_ happening: Happening) -> String {
    let name = happening.path.lastKey?.text ?? "/"
    switch happening.kind {
    case .created: return "\(name) was created as \(value(happening.after))"
    case .updated: return "\(name) went from \(value(happening.before)) to \(value(happening.after))"
    case .deleted: return "\(name) was removed (it was \(value(happening.before)))"
    }
  }

  private static func fate(of change: ChangeStory, in story: FunctionStory) -> String {
    let name = story.function.name
    switch change.fate {
    case .paid(let entries, let attempt):
      let text = entries.map(moved).joined(separator: " and ")
      return attempt > 1 ? "\(text), at attempt \(attempt)" : text
    case .done: return "\(name) handled it and moved no coins"
    case .skipped(let reason, _): return "\(name) skipped it: \(words(reason))"
    case .waiting(let until, let attempts, let error):
      return "\(name) failed at attempt \(attempts) (\(error)) and tries again at \(time(until))"
    case .paused(let reason): return "it waits until \(name) is resumed (\(reason))"
    case .dead(let attempts, let error): return "\(name) gave up after \(times(attempts)): \(error)"
    case .pending: return "\(name) has it in hand"
    case .suppressed: return "no run, for \(change.actor) wrote it with triggers suppressed"
    case .unwanted: return "no run, for \(name) runs on \(story.function.runsOn)"
    case .unheard: return "no run, for \(name) was not there when it happened, or had another rule"
    }
  }

  // MARK: The ledger

  /// One entry of the player's, as a sentence.
  package static func sentence(_ payment: WhyReport.Payment) -> String {
    let (entry, transfer) = (payment.entry, payment.entry.transfer)
    var text = "\(time(entry.time))  Entry \(entry.sequence): \(payment.isReceived ? "+" : "-")\(transfer.amount) "
    text += "\(transfer.unit) (\(transfer.code)), "
    if let function = transfer.function {
      text += "by \(function)"
      if let event = transfer.event {
        let subject = transfer.subject.map { "\($0)'s " } ?? ""
        text += payment.cause.map { ", because \(subject)\(happened($0)) (event \(event))" } ?? ", for event \(event)"
      }
    } else {
      text += payment.isReceived ? "from \(transfer.debit)" : "to \(transfer.credit)"
    }
    if let reversed = transfer.reverses { text += ", taking entry \(reversed) back" }
    if let reason = transfer.reason { text += "; \(words(reason))" }
    text += "."
    if let reversal = payment.reversal {
      text += " Taken back by entry \(reversal.sequence)\(reversal.transfer.reason.map { ": \($0)" } ?? "")."
    }
    return text
  }

  private static func moved(_ entry: LedgerEntry) -> String {
    let transfer = entry.transfer
    let isIssued = transfer.debit.kind == "issuance"
    let note = transfer.reason.map { "; \(words($0))" } ?? ""
    if transfer.credit.isHold {
      return "set \(transfer.amount) \(transfer.unit) aside for \(transfer.credit.owner) (entry \(entry.sequence)\(note)); "
        + "to end that by hand: doubloon ledger holds release \(entry.sequence), or void \(entry.sequence)"
    }
    let way = isIssued ? "to \(transfer.credit)" : "from \(transfer.debit) to \(transfer.credit)"
    return "\(isIssued ? "paid" : "moved") \(transfer.amount) \(transfer.unit) \(way) (entry \(entry.sequence)\(note))"
  }

  // MARK: Words

  /// A moment: `2026-07-30 18:00:05 UTC`.
  private static func time(_ milliseconds: Int64) -> String { CalendarTime(milliseconds: max(milliseconds, 0)).readable }

  /// A reason as people read it: `jumped_over_5` is `jumped over 5`.
  static func words(_ reason: String) -> String {
    guard !reason.isEmpty else { return "it gave no reason" }
    let word = reason.prefix { $0 != " " && $0 != ":" }
    return String(word.map { $0 == "_" ? " " : $0 }) + reason.dropFirst(word.count)
  }

  static func times(_ count: Int) -> String { count == 1 ? "1 attempt" : "\(count) attempts" }

  /// A value on one line, cut where it is long.
  private static func value(_ node: TreeNode) -> String {
    let text = String(decoding: node.json(.plain), as: UTF8.self)
    return text.count <= 60 ? text : "\(text.prefix(57))..."
  }

  /// A word of a shell's command line.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "_-./:,@".utf8.contains(byte)
      }
    if isPlain { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  // MARK: Repairs

  /// What a person can do about a change that was not paid.
  package struct Repair: Sendable, Hashable {
    /// When to do it, and the beginning of a sentence.
    package let words: String
    /// For a shell, complete but for the reason.
    package let command: String
  }

  /// The command that would repair a change's fate; nil where nothing is wrong, or the engine goes on by itself.
  package static func repair(_ change: ChangeStory, in story: FunctionStory) -> Repair? {
    let name = story.function.name
    switch change.fate {
    case .paid, .done, .waiting, .pending: return nil
    case .dead:
      return Repair(
        words: "Once the cause is mended:",
        command: replayCommand(of: change.event, function: name))
    case .paused: return Repair(words: "To go on:", command: "doubloon functions resume \(quoted(name))")
    case .unheard:
      return Repair(
        words: "To make up for it:",
        command: "doubloon replay --gaps --function \(quoted(name)) --uid \(quoted(story.player.text)) --reason TEXT")
    case .suppressed:
      return Repair(
        words: "To run it all the same:",
        command: "doubloon replay --event \(quoted(change.event.description)) --function \(quoted(name)) --suppressed "
          + "--reason TEXT")
    case .unwanted: return byExample(change, in: story)
    case .skipped(let reason, let amount):
      if reason.hasPrefix("already_paid") { return nil }
      if let repair = byExample(change, in: story) { return repair }
      // The function decided against it: only a transfer by an administrator pays.
      return Repair(
        words: "To pay all the same:",
        command: "doubloon ledger transfer issuance:support PLAYER \(amount.map { String($0) } ?? "AMOUNT") "
          + "--once \(quoted("support/\(change.event)")) --reason TEXT")
    }
  }

  /// Runs a function once more on an event.
  static func replayCommand(of event: EventID, function: String) -> String {
    "doubloon replay --event \(quoted(event.description)) --function \(quoted(function)) --reason TEXT"
  }

  /// Runs the function on a sample of the change that its filter asks for.
  private static func byExample(_ change: ChangeStory, in story: FunctionStory) -> Repair? {
    guard let example = story.function.example else { return nil }
    let (before, after) = (TreeNode.leaf(example.before), TreeNode.leaf(example.after))
    guard change.happening.before != before || change.happening.after != after else { return nil }
    // A player below the level is paid on reaching it.
    guard hasReached(change.happening.after.scalar, example: story.function.example) else { return nil }
    return invocation(
      at: change, of: story.function.name, before: before, after: after, words: "If it should be paid all the same:")
  }

  /// Whether a value is as far as a rule's example goes, or further in its direction.
  private static func hasReached(_ value: Scalar?, example: (before: Scalar, after: Scalar)?) -> Bool {
    guard let value, let example else { return false }
    guard let found = value.doubleValue, let goal = example.after.doubleValue else { return value == example.after }
    guard let start = example.before.doubleValue else { return found == goal }
    return start <= goal ? found >= goal : found <= goal
  }

  private static func invocation(
    at change: ChangeStory, of name: String, before: TreeNode, after: TreeNode, words: String
  ) -> Repair {
    var command = "doubloon functions invoke \(quoted(name)) --path \(quoted(change.happening.path.description))"
    for (option, node) in [("before", before), ("after", after)] where node.exists {
      command += " --\(option) \(quoted(String(decoding: node.json(.export), as: UTF8.self)))"
    }
    return Repair(words: words, command: command + " --reason TEXT")
  }
}
