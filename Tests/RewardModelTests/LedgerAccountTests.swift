import RewardModel
import Testing

@Suite struct LedgerAccountTests {
  @Test(
    "the first colon parts the kind from the owner",
    arguments: [
      ("user:bob", "user", "bob"), ("adjustment", "adjustment", ""), ("user:", "user", ""), (":bob", "", "bob"), ("", "", ""),
      ("hold:user:bob", "hold", "user:bob"), ("guild:a/b", "guild", "a/b"), ("user::", "user", ":"),
      ("user:\u{301}bob", "user", "\u{301}bob"), ("use\u{301}:bob", "use\u{301}", "bob"), ("user:😀", "user", "😀"),
    ])
  func parts(_ name: String, _ kind: String, _ owner: String) {
    let account = LedgerAccount(name)
    #expect(Array(account.kind.utf8) == Array(kind.utf8))
    #expect(Array(account.owner.utf8) == Array(owner.utf8))
    #expect(account.description == name)
  }

  @Test(
    "slashes part the owner, one part for each capture, empty ones too",
    arguments: [
      ("user:bob", ["bob"]), ("guild:a/b", ["a", "b"]), ("guild:/a/", ["", "a", ""]), ("user:", [""]), ("adjustment", [""]),
      ("a/b:c", ["c"]), ("guild:a/\u{301}b", ["a", "\u{301}b"]),
    ])
  func ownerParts(_ name: String, _ parts: [String]) {
    #expect(LedgerAccount(name).ownerParts.map { Array($0.utf8) } == parts.map { Array($0.utf8) })
  }

  @Test(
    "only the kind makes an account a hold",
    arguments: [
      ("hold:bob", true), ("hold", true), ("hold:", true), ("holds:bob", false), ("Hold:bob", false), ("user:hold", false),
      ("", false),
    ])
  func holds(_ name: String, _ isHold: Bool) {
    #expect(LedgerAccount(name).isHold == isHold)
  }

  @Test("the program's own accounts have the names that the ledger stores")
  func named() {
    #expect(LedgerAccount.issuance("signup").name == "issuance:signup")
    #expect(LedgerAccount.redemption("shop").name == "redemption:shop")
    #expect(LedgerAccount.hold("bob").name == "hold:bob")
    #expect(LedgerAccount.hold("bob").isHold)
    #expect(LedgerAccount.adjustment.name == "adjustment")
    #expect(LedgerAccount.opening.name == "opening")
  }

  @Test("accounts and keys are the same only if their bytes are")
  func bytes() {
    let (composed, decomposed) = ("user:\u{E9}", "user:e\u{301}")
    #expect(composed == decomposed, "Swift merges the two; the ledger must not")
    #expect(LedgerAccount(composed) != LedgerAccount(decomposed))
    #expect(Set([LedgerAccount(composed), LedgerAccount(decomposed), LedgerAccount(composed)]).count == 2)
    #expect(BusinessKey(composed) != BusinessKey(decomposed))
    #expect(Set([BusinessKey(composed), BusinessKey(decomposed), BusinessKey(decomposed)]).count == 2)
    #expect(BusinessKey("a") != BusinessKey("A"))
    #expect(BusinessKey("a") != BusinessKey("a\u{0}"))
  }

  @Test("the keys that the ledger gives itself differ for every entry and purpose")
  func ownKeys() {
    let keys = (1...12).flatMap { [BusinessKey.reversal(of: $0), .holdEnd(of: $0), .holdRest(of: $0)] }
    #expect(Set(keys).count == keys.count)
    #expect(BusinessKey.reversal(of: 7).text == "reversal/7")
    #expect(BusinessKey.holdEnd(of: 7).text == "hold-end/7")
    #expect(BusinessKey.holdRest(of: 7).text == "hold-end/7/rest")
  }
}
