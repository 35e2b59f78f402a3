import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Accounts, entries and identifiers in the order of their names and numbers")
struct NameListingTests {
  let engine: SQLiteEngine
  let committer: Committer
  var session: any WriteSession { committer.session }
  var ns: NamespaceID { committer.ns }

  init() throws {
    engine = try SQLiteEngine.inMemory()
    committer = try Committer(engine)
  }

  private func transfer(from debit: String, to credit: String, key: Int) -> LedgerTransfer {
    LedgerTransfer(
      debit: LedgerAccount(debit), credit: LedgerAccount(credit), amount: 1, unit: "gold", code: "gift",
      key: BusinessKey("\(key)"))
  }

  @Test("Accounts come by the bytes of their names, from a prefix on and behind another, counted up to a bound")
  func accounts() throws {
    let names = ["user:b", "user:a", "user:é", "user:aa", "shop", "user"]
    for (key, name) in (names + ["user:a", "user:a"]).enumerated() {
      try committer.post(transfer(from: "till", to: name, key: key))
    }
    session.setBalance(-8, of: LedgerAccount("till"), unit: "gold", in: ns)
    session.setBalance(3, of: LedgerAccount("till"), unit: "gems", in: ns)
    let other = try #require(try session.namespace(named: "other", creatingAt: 2))
    session.setBalance(9, of: LedgerAccount("till"), unit: "gold", in: other)
    try session.commit()
    try engine.read { snapshot throws in
      func listed(_ prefix: String, after: String? = nil, limit: Int = 9, in namespace: NamespaceID) throws -> [String] {
        try snapshot.ledgerAccounts(
          in: namespace, prefix: prefix, after: after.map { LedgerAccount($0) }, limit: limit, countMax: 3
        ).map { "\($0.account) \($0.entryCount)" }
      }
      let all = ["shop 1", "till 3", "user 1", "user:a 3", "user:aa 1", "user:b 1", "user:é 1"]
      #expect(try listed("", in: ns) == all)
      #expect(try listed("", limit: 2, in: ns) == Array(all[..<2]))
      #expect(try listed("", after: "till", limit: 2, in: ns) == Array(all[2...3]))
      #expect(try listed("", after: "tilla", limit: 1, in: ns) == [all[2]])
      #expect(try listed("user:a", in: ns) == Array(all[3...4]))
      #expect(try listed("user:a", after: "user:a", in: ns) == [all[4]])
      #expect(try listed("user:a", after: "shop", in: ns) == Array(all[3...4]))
      #expect(try listed("user:a", after: "user:b", in: ns) == [])
      #expect(try listed("", in: other) == [])
      let till = try snapshot.ledgerAccounts(in: ns, prefix: "till", after: nil, limit: 1, countMax: 100).first
      #expect(till?.entryCount == 8)
      #expect(till?.balances.map { "\($0.balance) \($0.unit)" } == ["3 gems", "-8 gold"])
    }
  }

  @Test("Entries are read up and down, of all accounts and of one")
  func entries() throws {
    for key in 1...5 { try committer.post(transfer(from: "till", to: key % 2 == 0 ? "even" : "odd", key: key)) }
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.entries(in: ns, before: nil, limit: 2).map(\.sequence) == [5, 4])
      #expect(try snapshot.entries(in: ns, before: 4, limit: 9).map(\.sequence) == [3, 2, 1])
      #expect(try snapshot.entries(in: ns, before: 1, limit: 9).isEmpty)
      let odd = LedgerAccount("odd")
      #expect(try snapshot.entries(in: ns, account: odd, after: 0, limit: 2).map(\.sequence) == [1, 3])
      #expect(try snapshot.entries(in: ns, account: odd, after: 3, limit: 2).map(\.sequence) == [5])
    }
  }

  @Test("Identifiers of one kind come by their values, each with the account that it leads to")
  func identifiers() throws {
    for (kind, value, uid) in [
      ("email", "b@x.io", "bob"), ("email", "a@x.io", "ann"), ("phone", "+1", "ann"), ("email", "c@x.io", "cem"),
    ] {
      session.put(.identifier(AccountIdentifier(kind: kind, value: value), uid: uid), in: ns)
    }
    try session.commit()
    try engine.read { snapshot throws in
      #expect(try snapshot.identifiers(in: ns, kind: "email", after: nil, limit: 2).map(\.uid) == ["ann", "bob"])
      let rest = try snapshot.identifiers(in: ns, kind: "email", after: "a@x.io", limit: 9)
      #expect(rest.map(\.identifier.value) == ["b@x.io", "c@x.io"])
      #expect(try snapshot.identifiers(in: ns, kind: "google.com", after: nil, limit: 9).isEmpty)
    }
  }
}
