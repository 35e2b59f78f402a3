import AccessRules
import ArgumentParser
import ServerApp
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
    do throws(RuleCaseError) {
      cases = try RuleCases(json)
    } catch {
      throw CommandError("\(file): \(error)")
    }
    guard let rulesPath = rules ?? cases.rules.map({ Self.path($0, besides: file) }) else {
      throw CommandError("\(file) names no rules file; add \"rules\": \"rules.json\", or name one with --rules.")
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

/// What a row of cases proved, for people and for programs.
struct RulesTestReport {
  let results: [RuleCase.Result]
  let coverage: [RuleCoverage.Row]
  let rulesPath: String

  var hasFailures: Bool { results.contains { $0.problem != nil } }
  var isCovered: Bool { coverage.allSatisfy(\.isCovered) }

  var text: String {
    var lines: [String] = []
    for result in results {
      guard let problem = result.problem else { continue }
      lines.append("FAILED  \(result.ruleCase.name): \(problem)")
      lines += result.explanation.text.split(separator: "\n").map { "        \($0)" }
    }
    let failed = results.count { $0.problem != nil }
    if failed > 0 { lines.append("") }
    lines.append(
      "\(Int64(results.count).counted("case", many: "cases")), "
        + (failed == 0 ? "all as expected." : "\(failed) not as expected."))
    let open = coverage.filter { !$0.isCovered }
    if open.isEmpty {
      lines.append("Every condition of \(Int64(coverage.count).counted("rule", many: "rules")) was seen true and false.")
    } else {
      lines.append(
        "\(coverage.count - open.count) of \(Int64(coverage.count).counted("rule", many: "rules")) are proved both ways; of the "
          + "others the cases do not show:")
      for row in open {
        lines.append("  \(row.kind.rawValue) \(row.pattern)")
        for gap in row.gaps { lines.append("    \(rulesPath):\(gap.line):\(gap.column): \(gap.what): \(gap.text)") }
      }
    }
    return lines.joined(separator: "\n").printable
  }

  var json: JSON {
    [
      "cases": .array(
        results.map { result in
          [
            "name": .string(result.ruleCase.name), "passed": .bool(result.problem == nil),
            "problem": result.problem.map { .string($0) } ?? .null, "explanation": result.explanation.json,
          ]
        }),
      "rules": .array(coverage.map(Self.json)),
    ]
  }

  private static func json(_ row: RuleCoverage.Row) -> JSON {
    [
      "kind": .string(row.kind.rawValue), "pattern": .string(row.pattern), "line": .int(Int64(row.line)),
      "column": .int(Int64(row.column)), "text": .string(row.text), "true": .int(Int64(row.trueCount)),
      "false": .int(Int64(row.falseCount)), "failed": .int(Int64(row.failedCount)),
      "gaps": .array(
        row.gaps.map { gap in
          [
            "text": .string(gap.text), "line": .int(Int64(gap.line)), "column": .int(Int64(gap.column)),
            "what": .string(gap.what),
          ]
        }),
    ]
  }
}
