import StorageCore
import TreeModel

extension WhyExplanation {
  /// What a person can do about a change that was not paid.
  struct Repair: Sendable, Hashable {
    /// When to do it, and the beginning of a sentence.
    let words: String
    /// For a shell, complete but for the reason.
    let command: String
  }

  /// The command that would repair a change's fate; nil where nothing is wrong, or the engine goes on by itself.
  static func repair(_ change: ChangeStory, in story: FunctionStory) -> Repair? {
    let name = story.function.name
    switch change.fate {
    case .paid, .done, .waiting, .pending: return nil
    case .dead:
      return Repair(
        words: "Once the cause is mended:",
        command: replayCommand(of: change.event, name))
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
      // What it looked at says no: only coins given by hand change that.
      return Repair(
        words: "To pay all the same:",
        command: "doubloon ledger transfer issuance:support PLAYER \(amount.map { String($0) } ?? "AMOUNT") "
          + "--once \(quoted("support/\(change.event)")) --reason TEXT")
    }
  }

  /// Runs a function once more on an event.
  static func replayCommand(of event: EventID, _ function: String) -> String {
    "doubloon replay --event \(quoted(event.description)) --function \(quoted(function)) --reason TEXT"
  }

  /// Running the function on a change that its rule names, where this was another.
  private static func byExample(_ change: ChangeStory, in story: FunctionStory) -> Repair? {
    guard let example = story.function.example else { return nil }
    let (before, after) = (TreeNode.leaf(example.before), TreeNode.leaf(example.after))
    guard change.happening.before != before || change.happening.after != after else { return nil }
    // Who has not come so far is to be paid when that happens.
    guard hasReached(change.happening.after.scalar, story.function.example) else { return nil }
    return invocation(at: change, of: story.function.name, before: before, after: after, "If it should be paid all the same:")
  }

  /// Whether a value is as far as a rule's example goes, or further in its direction.
  private static func hasReached(_ value: Scalar?, _ example: (before: Scalar, after: Scalar)?) -> Bool {
    guard let value, let example else { return false }
    guard let found = value.doubleValue, let goal = example.after.doubleValue else { return value == example.after }
    guard let start = example.before.doubleValue else { return found == goal }
    return start <= goal ? found >= goal : found <= goal
  }

  private static func invocation(
    at change: ChangeStory, of name: String, before: TreeNode, after: TreeNode, _ words: String
  ) -> Repair {
    var command = "doubloon functions invoke \(quoted(name)) --path \(quoted(change.happening.path.description))"
    for (option, node) in [("before", before), ("after", after)] where node.exists {
      command += " --\(option) \(quoted(String(decoding: node.json(.export), as: UTF8.self)))"
    }
    return Repair(words: words, command: command + " --reason TEXT")
  }
}
