import StorageCore
import Testing
import TreeModel

@testable import PlayerLifecycle

/// Which paths of the tree are one player's.
struct PersonalPathsTests {
  @Test("The account, the record that the balance is part of, and what is named beside them; nothing twice")
  func paths() throws {
    let paths = try PersonalPaths(
      of: "bob", currencies: [.piecesOfEight], patterns: ["/board/{uid}", "/users/{uid}/mail", "/board/{uid}"]
    ).paths
    #expect(paths.count == 3 && paths.contains { $0.isAccounts })
    #expect(paths.filter { !$0.isAccounts } == ["/users/bob", "/board/bob"])
  }

  @Test(
    "A pattern that is no path of one player is refused with the reason",
    arguments: [
      ("/a/{x", "is no pattern of a place"), ("/board", "must name the player by one capture"),
      ("/board/{uid}/{day}", "must name the player by one capture"), ("/board/{uid=**}", "must name the player by one capture"),
    ])
  func refusals(_ pattern: String, _ reason: String) {
    let error = #expect(throws: PersonalPaths.PathsError.self) {
      _ = try PersonalPaths(of: "bob", currencies: [], patterns: [pattern])
    }
    #expect(error?.description.contains(reason) == true)
  }

  @Test("A uid that is no key has an account only")
  func illegalKey() throws {
    #expect(try PersonalPaths(of: "a.b", currencies: [.piecesOfEight], patterns: []).paths.count == 1)
    let error = #expect(throws: PersonalPaths.PathsError.self) {
      _ = try PersonalPaths(of: "a.b", currencies: [], patterns: ["/board/{uid}"])
    }
    #expect(error?.description == "\"a.b\" can be no key of the tree, so nothing can stand at /board/{uid}.")
  }
}
