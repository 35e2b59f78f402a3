import StorageCore
import Testing
import TreeModel

/// The text forms of ids and actors: they stand in the log, in URLs and in listings, and must read back as what they were.
@Suite struct TextFormTests {
  static let paths: [Path] = [
    "/", "/users/bob/level", "/a:b/c:d", "/1-2:/x", "/-/--", "/a b/\u{A0}", "/é", "/e\u{301}", "/😀/👩‍👩‍👧", "/00/-0/007",
    "/{uid}/*/**", "/users/\u{301}bob/\u{200D}",
    "/%2F/?a=b&c", "/\"quoted\"/\\",
  ]

  @Test("an event id reads back from its text, whatever its path", arguments: paths)
  func eventIDs(_ path: Path) {
    for (epoch, revision) in [(1, 1), (1, 42), (3, .max), (.max, 0)] as [(Int64, Int64)] {
      let id = EventID(epoch: epoch, revision: Revision(revision), path: PathBytes(path))
      #expect(EventID(id.description) == id, "\(id)")
      #expect(id.description.utf8.starts(with: "\(epoch)-\(revision):/".utf8))
    }
  }

  @Test("two spellings of a path are two event ids")
  func spellings() {
    let ids = ["1-2:/\u{E9}", "1-2:/e\u{301}"].map { EventID($0) }
    #expect(ids[0] != nil && ids[1] != nil)
    #expect(ids[0] != ids[1])
    #expect(Set(ids).count == 2)
  }

  @Test(
    "a text that is no event id is refused",
    arguments: [
      "", ":", "1-2", "1:/a", "1-2-3:/a", "-1-2:/a", "1--2:/a", "a-2:/a", "1-b:/a", ":/a", "-:/a", "1 - 2:/a",
      "1-99999999999999999999:/a",
      "1-2:/a.b",
      "1-2:/$a", "1-2:/a/\u{7F}", "/a:1-2",
    ])
  func notEventIDs(_ text: String) {
    #expect(EventID(text) == nil)
  }

  @Test(
    "an actor reads back from its text, whatever its name",
    arguments: [
      (.admin("owner"), "admin:owner"), (.user(uid: "bob"), "user:bob"), (.anonymous, "anonymous"),
      (.function("rewardReferrals"), "function:rewardReferrals"), (.system("import"), "system:import"),
      (.user(uid: "a:b"), "user:a:b"), (.user(uid: ""), "user:"), (.user(uid: "anonymous"), "user:anonymous"),
      (.user(uid: "user:bob"), "user:user:bob"), (.user(uid: "\u{301}bob"), "user:\u{301}bob"), (.admin(" "), "admin: "),
      (.user(uid: "e\u{301}😀"), "user:e\u{301}😀"),
    ] as [(Actor, String)])
  func actors(_ actor: Actor, _ text: String) {
    #expect(actor.description == text)
    #expect(Actor(text) == actor)
  }

  @Test(
    "a text that is no actor is refused",
    arguments: ["", ":", "bob", "admin", "Anonymous", "anonymous:", "root:x", "User:bob", " user:bob", ":bob"])
  func notActors(_ text: String) {
    #expect(Actor(text) == nil)
  }

  @Test("revisions count up from the empty tree, in the order of their numbers")
  func revisions() {
    #expect(Revision.zero.rawValue == 0)
    #expect(Revision.zero.next == Revision(1))
    #expect(Revision(8).previous.next == Revision(8))
    #expect(Revision(9) < Revision(10))
    #expect(Revision(10).description == "10")
  }
}
