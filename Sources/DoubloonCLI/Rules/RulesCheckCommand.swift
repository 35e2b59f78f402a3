import AccessRules
import ArgumentParser
import ServerConfiguration

/// `doubloon rules check`: whether a rules file would be accepted.
struct RulesCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a rules file, without a server.",
    discussion: """
      Every fault is a line "file:line:column: text", as compilers have it. Ends with exit code 1 if there is one.

      Examples:
        doubloon rules check rules.json
      """)

  @Argument(help: "The rules file; or - for the standard input.")
  var file: String

  func run() async throws {
    let rules = try RulesFile(file).rules
    let counts = rules.counts
    DoubloonCommandLine.output.line(
      "The rules are sound: \(counts.rules.counted("rule", "rules")) at \(counts.places.counted("place", "places")), "
        + "\(counts.indexes.counted("index", "indexes")).")
  }
}

extension RuleSet {
  /// How much there is.
  fileprivate var counts: (places: Int64, rules: Int64, indexes: Int64) {
    var waiting = [root]
    var (places, rules): (Int64, Int64) = (0, 0)
    while let node = waiting.popLast() {
      places += 1
      rules += Int64([node.read, node.write, node.validate].count { $0 != nil })
      waiting += Array(node.children.values) + [node.wildcard].compactMap(\.self)
    }
    return (places, rules, Int64(indexes.count))
  }
}
