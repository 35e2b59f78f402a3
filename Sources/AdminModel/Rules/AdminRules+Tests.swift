package import TreeModel

extension AdminRules {
  /// The most cases of one run.
  package static let casesMax = 500

  /// A test of rules to run.
  package struct TestOrder: AdminValue {
    /// In the format of "doubloon rules test"; the file that it names is not read.
    package var cases: JSON
    /// The rules to test; those that hold without it.
    package var source: String?

    package init(cases: JSON, source: String? = nil) {
      self.cases = cases
      self.source = source
    }

    package static let notes: [String: FieldNote] = [
      "cases": .only(
        .object([]),
        text: "a file of cases, as for \"doubloon rules test\", with at most 500; the file that it names is not read"),
      "source": .text("the rules to test; those that hold without it"),
    ]
  }

  /// A case that was run.
  package struct TestedCase: AdminValue {
    package var name: String
    package var passed: Bool
    package var allowed: Bool
    /// What is not as the case wants it.
    package var problem: String?
    /// Why, for people, of a case that failed.
    package var text: String?

    package init(name: String, passed: Bool, allowed: Bool, problem: String? = nil, text: String? = nil) {
      self.name = name
      self.passed = passed
      self.allowed = allowed
      self.problem = problem
      self.text = text
    }

    package static let notes: [String: FieldNote] = [
      "problem": .text("what is not as the case wants it"), "text": .text("why, for people, of a case that failed"),
    ]
  }

  /// A condition of which something was never seen.
  package struct Gap: AdminValue {
    package var text: String
    package var line: Int64
    package var column: Int64
    /// `never judged`, `never true`, `never false`.
    package var what: String

    package init(text: String, line: Int64, column: Int64, what: String) {
      self.text = text
      self.line = line
      self.column = column
      self.what = what
    }

    package static let notes: [String: FieldNote] = ["what": .text("never judged, never true or never false")]
  }

  /// A rule, and what the cases made of it.
  package struct CoveredRule: AdminValue {
    package var kind: String
    package var pattern: String
    package var line: Int64
    package var column: Int64
    /// How often it was true.
    package var trueCount: Int64
    /// How often it was false.
    package var falseCount: Int64
    /// How often it could not be evaluated, and so was false.
    package var failedCount: Int64
    package var gaps: [Gap]

    package init(
      kind: String, pattern: String, line: Int64, column: Int64, trueCount: Int64, falseCount: Int64, failedCount: Int64,
      gaps: [Gap]
    ) {
      self.kind = kind
      self.pattern = pattern
      self.line = line
      self.column = column
      self.trueCount = trueCount
      self.falseCount = falseCount
      self.failedCount = failedCount
      self.gaps = gaps
    }

    package static let notes: [String: FieldNote] = [
      "kind": .text(".read, .write or .validate"), "pattern": .text("where it stands: /users/$uid"),
      "failedCount": .text("how often it could not be evaluated, and so was false"),
      "gaps": .text("its conditions of which something was never seen"),
    ]
  }

  /// What a test of rules proved.
  package struct TestReport: AdminValue {
    package var passed: Int64
    package var failed: Int64
    /// Cases that were left out because the time was over.
    package var notRun: Int64
    /// In the order of the file.
    package var cases: [TestedCase]
    /// In the order of the rules, at most 2,000.
    package var rules: [CoveredRule]
    /// Rules of which every condition was seen true and false.
    package var covered: Int64
    package var ruleCount: Int64

    package init(
      passed: Int64, failed: Int64, notRun: Int64, cases: [TestedCase], rules: [CoveredRule], covered: Int64, ruleCount: Int64
    ) {
      self.passed = passed
      self.failed = failed
      self.notRun = notRun
      self.cases = cases
      self.rules = rules
      self.covered = covered
      self.ruleCount = ruleCount
    }

    package static let notes: [String: FieldNote] = [
      "notRun": .text("cases that were left out because 5 seconds were over"),
      "rules": .text("in their order, at most 2,000"),
      "covered": .text("rules of which every condition was seen true and false"),
    ]
  }
}
