import FunctionsKit
import Testing
import TreeModel

@Suite struct TreePathTests {
  @Test("a place's path has its parameters where its pattern has captures")
  func paths() throws {
    let bob = UserID("bob")
    #expect(try TreePath<Int>("/total").path() == "/total")
    #expect(try TreePath<Int, UserID>("/users/{uid}/level").path(bob) == "/users/bob/level")
    #expect(try TreePath<Int, String, Int>("/guilds/{guild}/seats/{seat}").path("a b", -7) == "/guilds/a b/seats/-7")
    #expect(try TreePath<Int, String>("/files/{rest=**}").path("a/b/c") == "/files/a/b/c")
    #expect(TreePath<Int, UserID>("users//{uid}/").pattern == "/users/{uid}")
  }

  @Test("a text that is no key never leads to another place", arguments: ["a/b", "", "a.b", "$a", "#", "[0]", "a\u{0}"])
  func illegalParameters(_ text: String) {
    #expect(throws: PathError.self) { try TreePath<Int, String>("/users/{uid}/level").path(text) }
    #expect(UserID(text) == nil)
    #expect(UserID(pathSegment: text) == nil)
    #expect(throws: DecodingError.self) { try TreeNodeDecoder.decode(UserID.self, from: .leaf(.string(text))) }
  }

  @Test("a place that cannot be read, and an id in the source that is no key, fail where a path is made with them")
  func mistakes() throws {
    #expect(throws: TreePathError.self) { try TreePath<Int, UserID>("/users/{uid/level").path("bob") }
    #expect(throws: TreePathError.self) { try TreePath<Int>("/users/{uid}/level").path() }
    #expect(throws: PathError.self) { try TreePath<Int, UserID>("/users/{uid}/level").path("a.b") }
  }

  @Test("a user id is the bytes of its text")
  func userIDs() throws {
    let composed = UserID("\u{E9}")
    let decomposed = UserID("e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(composed.pathSegment == composed.text)
    #expect(try TreeNodeEncoder.encode(composed) == .leaf(.string("\u{E9}")))
    #expect(try TreeNodeDecoder.decode(UserID.self, from: .leaf(.string("e\u{301}"))) == decomposed)
  }

  @Test(
    "a number is captured from its shortest spelling only",
    arguments: [
      ("0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", .max), ("007", nil), ("+7", nil), ("-0", nil), (" 7", nil),
      ("", nil),
      ("x", nil), ("7.0", nil), ("9223372036854775808", nil),
    ] as [(String, Int?)])
  func numbers(_ segment: String, _ value: Int?) {
    #expect(Int(pathSegment: segment) == value)
    if let value { #expect(value.pathSegment == segment) }
  }

  @Test("The path of a held reward is filled with the referrer, then the player")
  func heldRewards() {
    let held = HeldRewardPath(TreePath<Int64, UserID, UserID>("/held/{referrer}/{player}"))
    #expect(held.path(referrer: "alice", player: "bob") == "/held/alice/bob")
    #expect(held.path(referrer: "a.b", player: "bob") == nil)
    #expect(FunctionOptions(heldRewards: [held]).heldRewards == [held])
  }
}
