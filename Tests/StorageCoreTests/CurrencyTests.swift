import RewardModel
import StorageCore
import Testing
import TreeModel

@Suite struct CurrencyTests {
  static let guildGold = Currency(unit: "gold", pattern: "guilds/{guild}/members/{uid}/gold", holder: "member")

  @Test(
    "the way from a balance's place to its account leads back",
    arguments: [
      (.piecesOfEight, "/users/bob/inventory/pieces_of_eight", "user:bob"),
      (.piecesOfEight, "/users/a:b/inventory/pieces_of_eight", "user:a:b"),
      (.piecesOfEight, "/users/a b/inventory/pieces_of_eight", "user:a b"),
      (.piecesOfEight, "/users/-007/inventory/pieces_of_eight", "user:-007"),
      (.piecesOfEight, "/users/😀/inventory/pieces_of_eight", "user:😀"),
      (.piecesOfEight, "/users/{uid}/inventory/pieces_of_eight", "user:{uid}"),
      (guildGold, "/guilds/1/members/bob/gold", "member:1/bob"), (guildGold, "/guilds/a:/members/:b/gold", "member:a:/:b"),
    ] as [(Currency, Path, String)])
  func inverse(_ currency: Currency, _ path: Path, _ name: String) {
    #expect(currency.account(at: path) == LedgerAccount(name))
    #expect(currency.path(of: LedgerAccount(name)) == path)
  }

  @Test("two players whose names only look the same have two accounts")
  func spellings() {
    let accounts = ["\u{E9}", "e\u{301}", "\u{301}e"].map { name in
      Path(keys: ["users", name, "inventory", "pieces_of_eight"].map { Key(unchecked: $0) })
    }.map { (path: $0, account: Currency.piecesOfEight.account(at: $0)) }
    #expect(Set(accounts.map(\.account)).count == 3)
    for (path, account) in accounts { #expect(account.flatMap(Currency.piecesOfEight.path(of:)) == path) }
  }

  @Test(
    "a place that holds no balance has no account",
    arguments: [
      "/", "/users", "/users/bob/inventory", "/users/bob/inventory/gems", "/users/bob/inventory/pieces_of_eight/x",
      "/user/bob/inventory/pieces_of_eight",
    ] as [Path])
  func otherPlaces(_ path: Path) {
    #expect(Currency.piecesOfEight.account(at: path) == nil)
  }

  @Test(
    "an account of another holder, or one that cannot stand in the tree, has no place",
    arguments: [
      "issuance:bob", "hold:bob", "adjustment", "users:bob", "User:bob", "", "user", "user:", "user:a/b", "user:/", "user:a.b",
      "user:$a", "user:a\u{7F}", "us\u{435}r:bob",
    ])
  func otherAccounts(_ name: String) {
    #expect(Currency.piecesOfEight.path(of: LedgerAccount(name)) == nil)
  }

  @Test("a holder is known by its bytes, and one with two captures needs both")
  func holders() {
    let currency = Currency(unit: "gold", pattern: "players/{uid}/gold", holder: "\u{E9}lite")
    #expect(currency.path(of: LedgerAccount("\u{E9}lite:bob")) == "/players/bob/gold")
    #expect(currency.path(of: LedgerAccount("e\u{301}lite:bob")) == nil)
    #expect(Self.guildGold.path(of: LedgerAccount("member:1")) == nil)
    #expect(Self.guildGold.path(of: LedgerAccount("member:1/2/3")) == nil)
    #expect(Self.guildGold.path(of: LedgerAccount("member:/bob")) == nil)
  }
}
