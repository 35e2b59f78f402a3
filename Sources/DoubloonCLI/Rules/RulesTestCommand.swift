import AccessRules
import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon rules test`: proves a rules file, case by case.
struct RulesTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Prove a rules file, case by case, without a server.",
    discussion: """
      A file of cases is JSON: {"rules": "rules.json", "users": {"bob": {"uid": "bob"}}, "data": {…}, "cases": [
        {"name": "a step up", "as": "bob", "set": "/users/bob/level", "value": 5, "expect": "allowed"},
        {"name": "not two", "as": "bob", "set": "/users/bob/level", "value": 6, "expect": "denied",
         "by": ".validate /users/$uid/level"}]}
      A case does one of read (with a query), set, update (with a value) and delete; "as" is a name from "users", an \
      object, or null for nobody; "by" names the rule that must decide, or "none". Every case begins with the same data.

      Behind the cases stands what they do not prove: rules, and conditions in them, that were never true or never false. \
      Ends with exit code 1 if a case fails, and with --strict if something is not proved.

      Examples:
        doubloon rules test Examples/ReferralGame/rules-test.json
        doubloon rules test cases.json --rules rules.json --strict
      """)

  @Argument(help: "The file of cases; or - for the standard input.")
  var file: String

  @Option(help: ArgumentHelp("The rules file, instead of the one that the cases name.", valueName: "file"))
  var rules: String?

  @Flag(help: "Fail if a condition was never true or never false.")
  var strict = false

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let json = try JSONInput.parse(try FileBytes.read(file), from: file)
    let cases: RuleCases
    do throws(RuleCaseFault) {
      cases = try RuleCases(json)
    } catch {
      throw CommandFailure("\(file): \(error)")
    }
    guard let rulesPath = rules ?? cases.rules.map({ Self.path($0, besides: file) }) else {
      throw CommandFailure("\(file) names no rules file; add \"rules\": \"rules.json\", or name one with --rules.")
    }
    let ruleSet = try RulesFile(rulesPath).rules
    let coverage = RuleCoverage()
    let report = RulesTestReport(
      results: cases.cases.map { $0.result(by: ruleSet, coverage: coverage) }, coverage: coverage.rows(of: ruleSet),
      rulesPath: rulesPath)
    output.print(report.json) { _ in report.text }
    if report.hasFailures || (strict && !report.isCovered) { throw ExitCode(1) }
  }

  /// A path that is relative to another file's folder.
  private static func path(_ path: String, besides file: String) -> String {
    guard path.first != "/", file != "-", let slash = file.lastIndex(of: "/") else { return path }
    return file[...slash] + path
  }
}
