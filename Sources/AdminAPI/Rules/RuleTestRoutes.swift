import APISupport
import AccessRules
import AdminModel
import HTTPServer
import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

/// Tests of rules, case by case, on the data that the cases bring.
enum RuleTestRoutes {
  static let routes: [Route] = [.changing(AdminRules.test, audit: nil, answer: test)]

  /// The largest order, in bytes: the rules, and as much again three times for cases and their data.
  private static let bytesMax = 4 << 20
  /// Rules of whose coverage is told.
  private static let rulesMax = 2000
  /// The longest explanation of a case, in characters.
  private static let textMax = 4000
  /// No case is begun later.
  private static let timeMax = Duration.seconds(5)

  private static func test(_ call: RouteCall, order: AdminRules.TestOrder) async throws -> AdminRules.TestReport {
    guard call.request.body?.readableBytes ?? 0 <= bytesMax else {
      throw APIError(
        .payloadTooLarge, "too_large", "A test has at most 4 MB: split its cases, or test with \"doubloon rules test\".")
    }
    let source = try order.source ?? held(call)
    return try await call.services.adminPool.runIfActive {
      let rules: RuleSet
      do throws(RulesError) {
        rules = try RuleSet(parsing: source)
      } catch {
        throw RuleSourceRoutes.refusal(error)
      }
      let cases: RuleCases
      do throws(RuleCaseError) {
        cases = try RuleCases(order.cases)
      } catch {
        throw APIError(.badRequest, "invalid_cases", error.description)
      }
      guard cases.cases.count <= AdminRules.casesMax else {
        throw APIError(
          .badRequest, "invalid_cases",
          "A run has at most \(AdminRules.casesMax) cases, and these are \(cases.cases.count): split them, or run \"doubloon rules test\"."
        )
      }
      return report(cases.cases, by: rules)
    }
  }

  private static func held(_ call: RouteCall) throws -> String {
    let database = call.services.database
    guard let namespace = try RuleSourceRoutes.known(call), let record = database.catalog.source(of: namespace)
    else {
      throw APIError(
        .badRequest, "no_rules", "\(call.namespaceName) has no rules: send those to test as \"source\".")
    }
    return record.source
  }

  private static func report(_ cases: [RuleCase], by rules: RuleSet) -> AdminRules.TestReport {
    let coverage = RuleCoverage()
    let start = ContinuousClock.now
    var tested: [AdminRules.TestedCase] = []
    for ruleCase in cases {
      guard ContinuousClock.now - start < timeMax else { break }
      let result = ruleCase.result(by: rules, coverage: coverage)
      tested.append(
        AdminRules.TestedCase(
          name: ruleCase.name, passed: result.problem == nil, allowed: result.explanation.isAllowed, problem: result.problem,
          text: result.problem == nil ? nil : String(result.explanation.text.prefix(textMax))))
    }
    let rows = coverage.rows(of: rules)
    let passed = tested.count { $0.passed }
    return AdminRules.TestReport(
      passed: Int64(passed), failed: Int64(tested.count - passed), notRun: Int64(cases.count - tested.count), cases: tested,
      rules: rows.prefix(rulesMax).map { AdminRules.CoveredRule($0) }, covered: Int64(rows.count { $0.isCovered }),
      ruleCount: Int64(rows.count))
  }
}

extension AdminRules.CoveredRule {
  fileprivate init(_ row: RuleCoverage.Row) {
    self.init(
      kind: row.kind.rawValue, pattern: row.pattern, line: Int64(row.line), column: Int64(row.column),
      trueCount: Int64(row.trueCount), falseCount: Int64(row.falseCount), failedCount: Int64(row.failedCount),
      gaps: row.gaps.map {
        AdminRules.Gap(text: String($0.text.prefix(400)), line: Int64($0.line), column: Int64($0.column), what: $0.what)
      })
  }
}
