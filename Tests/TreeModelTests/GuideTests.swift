import Testing
import TreeModel

/// The example of the documentation's first page.
@Suite struct GuideTests {
  @Test("the example of the documentation")
  func example() throws {
    let users: TreeNode = ["alice": ["level": 5], "bob": ["level": 4, "referred_by": "alice"]]
    let raised = users.setting(try Path(parsing: "/bob/level"), to: 5)

    let query = Query(order: .child("/level"), start: .start(5))
    let found = query.window(of: raised).map(\.key.text)
    #expect(found == ["alice", "bob"])
    #expect(String(decoding: raised.json(), as: UTF8.self).hasPrefix(#"{"alice":{"level":5},"bob":"#))
  }
}
