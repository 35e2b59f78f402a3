import AccessRules
import ServerApp
import TreeModel

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
      "\(Int64(results.count).counted("case", "cases")), " + (failed == 0 ? "all as expected." : "\(failed) not as expected."))
    let open = coverage.filter { !$0.isCovered }
    if open.isEmpty {
      lines.append("Every condition of \(Int64(coverage.count).counted("rule", "rules")) was seen true and false.")
    } else {
      lines.append(
        "\(coverage.count - open.count) of \(Int64(coverage.count).counted("rule", "rules")) are proved both ways; of the "
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
