import AccessRules
import Testing
import TreeModel

@Suite("Tests of rules")
struct RuleCasesTests {
  private static let folder = "Examples/ReferralGame"

  @Test(
    "The referral game's rules, and those for confirmed addresses, do what their tests say, every condition of them both ways",
    arguments: ["rules", "rules-verified"])
  func referralGame(name: String) throws {
    let rules = try RuleSet(parsing: TestFiles.text(of: "\(Self.folder)/\(name).json"))
    let cases = try RuleCases(JSONParser.parse(TestFiles.text(of: "\(Self.folder)/\(name)-test.json")))
    #expect(cases.rules == "\(name).json" && cases.cases.count > 35)
    let coverage = RuleCoverage()
    for ruleCase in cases.cases {
      let result = ruleCase.result(by: rules, coverage: coverage)
      #expect(result.problem == nil, "\(ruleCase.name): \(result.problem ?? "") \(result.explanation.text)")
    }
    let rows = coverage.rows(of: rules)
    #expect(rows.count == 12)
    for row in rows { #expect(row.isCovered, "\(row.line):\(row.column) \(row.text): \(row.gaps)") }
  }

  private static let rules = """
    {"rules": {
      "a": { ".write": "auth.uid == 'bob' || auth.admin == true", ".validate": "newData.val() > data.val()" },
      "b": { ".read": "query.limitToFirst <= 10" }
    }}
    """

  private func results(_ cases: String, coverage: RuleCoverage? = nil) throws -> [RuleCase.Result] {
    let rules = try RuleSet(parsing: Self.rules)
    return try RuleCases(JSONParser.parse(cases)).cases.map { $0.result(by: rules, coverage: coverage) }
  }

  @Test("A case that fails says what was wanted, and why it is otherwise")
  func failing() throws {
    let found = try results(
      """
      {"users": {"bob": {"uid": "bob"}}, "data": {"a": 5}, "cases": [
        {"as": "bob", "set": "/a", "value": 6, "expect": "allowed", "by": ".write /a"},
        {"as": "bob", "set": "/a", "value": 5, "expect": "allowed"},
        {"name": "third", "as": null, "set": "/a", "value": 6, "expect": "denied", "by": ".validate /a"},
        {"as": null, "read": "/b", "query": {"orderBy": "$key", "limitToFirst": 10}, "expect": "allowed"},
        {"as": null, "read": "/b", "expect": "denied", "by": "none"},
        {"as": "bob", "set": "/none/.priority", "value": 1, "expect": "allowed"}
      ]}
      """)
    #expect(found[0].problem == nil && found[3].problem == nil)
    #expect(found[1].problem == "must be allowed, but is denied")
    #expect(
      found[1].explanation.text == """
        Denied: write /a
          2:76 .validate of /a is false: newData.val() > data.val()
              newData.val() = 5
              data.val() = 5
        """)
    #expect(found[2].problem == "must be decided by .validate /a, but is by .write /a")
    #expect(found[4].problem == "must be decided by none, but is by .read /b")
    #expect(found[4].explanation.text.contains("3:20 query.limitToFirst must be a number or a string, but is null"))
    #expect(found[5].problem?.contains("does not exist") == true)
  }

  @Test("A name of the users that stands for null is nobody")
  func nobody() throws {
    let cases = try RuleCases(
      JSONParser.parse(#"{"users": {"guest": null}, "cases": [{"as": "guest", "read": "/b", "expect": "denied"}]}"#))
    #expect(cases.cases.count == 1 && cases.cases[0].auth == JSON?.none)
  }

  @Test("Coverage names the conditions of which something was never seen")
  func coverage() throws {
    let rules = try RuleSet(parsing: Self.rules)
    let again = RuleCoverage()
    let cases = try RuleCases(
      JSONParser.parse(#"{"data": {"a": 5}, "cases": [{"as": {"uid": "bob"}, "set": "/a", "value": 6, "expect": "allowed"}]}"#))
    for ruleCase in cases.cases { _ = ruleCase.result(by: rules, coverage: again) }
    let gaps = again.rows(of: rules).flatMap(\.gaps).map { "\($0.line):\($0.column) \($0.text) \($0.what)" }
    #expect(
      gaps == [
        "2:21 auth.uid == 'bob' never false", "2:42 auth.admin == true never judged",
        "2:77 newData.val() > data.val() never false",
        "3:20 query.limitToFirst <= 10 never judged",
      ], "\(gaps)")
  }

  @Test(
    "What is no file of cases is refused with the case's name",
    arguments: [
      ("[]", "object"), ("{}", "cases"), (#"{"cases": []}"#, "at least one"), (#"{"cases": [{}], "x": 1}"#, "unknown member"),
      (#"{"cases": [{"as": null, "read": "/a"}]}"#, "case 1: \"expect\""),
      (#"{"cases": [{"read": "/a", "expect": "denied"}]}"#, "\"as\""),
      (#"{"cases": [{"as": "x", "read": "/a", "expect": "denied"}]}"#, "no \"x\""),
      (#"{"cases": [{"as": null, "expect": "denied"}]}"#, "exactly one"),
      (#"{"cases": [{"as": null, "read": "/a", "set": "/a", "expect": "denied"}]}"#, "exactly one"),
      (#"{"cases": [{"as": null, "set": "/a", "expect": "denied"}]}"#, "needs a \"value\""),
      (#"{"cases": [{"name": "n", "as": null, "set": "/a.b", "value": 1, "expect": "denied"}]}"#, "n: "),
      (#"{"cases": [{"as": null, "read": "/a", "query": {"orderBy": "a.b"}, "expect": "denied"}]}"#, "orderBy"),
      (#"{"cases": [{"as": null, "read": "/a", "expects": "denied"}]}"#, "unknown member \"expects\""),
    ])
  func refused(_ text: String, _ message: String) throws {
    let json = try JSONParser.parse(text)
    let error = try #require(throws: RuleCaseError.self) { try RuleCases(json) }
    #expect(error.message.contains(message), "\(error)")
  }
}
