import Ledger
import RewardModel
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// The index of who brought whom says what the tree says, however the tree came to say it.
struct ReferralIndexTests {
  private static let referralPath = ReferralPath("/users/{uid}/referred_by")

  /// A store whose writer keeps the index, or does not know of it.
  private struct Store {
    let database: Database
    let engine: SQLiteEngine
    let namespace: NamespaceID
    let table: CurrencyTable

    init(_ folder: TemporaryFolder, keepsIndex: Bool = true) async throws {
      engine = try SQLiteEngine(directory: folder.path)
      table = try CurrencyTable([.piecesOfEight])
      let index: [any CommitParticipant] = keepsIndex ? [ReferralIndex(referralPath)] : []
      database = try Database(
        engine: engine, participants: [LedgerParticipant(table: table)] + index,
        clock: AdjustableClock(frozenAt: 1_700_000_000_000))
      namespace = try await database.openNamespace(named: "game")
    }

    var ledger: ReferralService { ReferralService(referralPath, engine: engine, currencies: table) }

    func build(_ referralPath: ReferralPath? = referralPath) async throws -> Int {
      try await ReferralBuild(referralPath, engine: engine, writer: database).run()
    }

    func write(_ operations: WriteOperation...) async throws {
      _ = try await database.commit(CommitRequest(namespace: namespace, actor: .admin("ann"), operations: operations))
    }

    func brought(by referrer: String) throws -> [String] {
      try ledger.referrals(of: referrer, in: namespace, limit: 1000).map(\.player)
    }

    func ranks(limit: Int) throws -> [ReferralRank] {
      try ledger.ranking(in: namespace, unit: nil, since: nil, signedIn: nil, limit: limit).ranks
    }

    func close() {
      database.shutDown()
      engine.close()
    }
  }

  @Test("Writes at every depth move players in the index, and what is no legal key is nobody's")
  func depths() async throws {
    let store = try await Store(TemporaryFolder())
    defer { store.close() }
    try await store.write(.set("/users/bob/referred_by", "alice"))
    try await store.write(.set("/users", ["carl": ["referred_by": "alice", "level": 1], "dora": ["referred_by": "al"]]))
    #expect(try store.brought(by: "alice") == ["carl"])
    #expect(try store.brought(by: "al") == ["dora"])
    try await store.write(.set("/users/bob", ["referred_by": "alice"]), .set("/users/dora/referred_by", "carl"))
    #expect(try store.brought(by: "alice") == ["bob", "carl"])
    #expect(try store.brought(by: "al") == [])
    #expect(try store.brought(by: "carl") == ["dora"])
    try await store.write(.set("/users/bob/referred_by", "a/b"), .set("/users/carl/referred_by", 7))
    #expect(try store.brought(by: "alice") == [])
    #expect(try store.brought(by: "a/b") == [])
    try await store.write(.remove("/users"))
    #expect(try store.ranks(limit: 10).isEmpty)
  }

  @Test("Pages of a player's referrals and of the top go on where they ended, and equal counts are ordered by name")
  func pages() async throws {
    let store = try await Store(TemporaryFolder())
    defer { store.close() }
    for (player, referrer) in [("a", "x"), ("b", "x"), ("c", "x"), ("d", "y"), ("e", "z"), ("f", "x0"), ("g", "z")] {
      try await store.write(.set(try Path(parsing: "/users/\(player)/referred_by"), .leaf(.string(referrer))))
    }
    let first = try store.ledger.referrals(of: "x", in: store.namespace, limit: 2)
    #expect(first.map(\.player) == ["a", "b"])
    #expect(first.allSatisfy { $0.since == 1_700_000_000_000 && $0.state == .joined })
    #expect(try store.ledger.referrals(of: "x", in: store.namespace, after: "b", limit: 2).map(\.player) == ["c"])
    #expect(try store.ranks(limit: 3).map(\.referrer) == ["x", "z", "x0"])
    #expect(try store.ranks(limit: 3).map(\.referred) == [3, 2, 1])
    #expect(try store.ledger.referrer(of: "f", in: store.namespace) == "x0")
  }

  @Test("A tree goes level by level, tells of a player once where the records go in a circle, and says what it leaves out")
  func tree() async throws {
    let store = try await Store(TemporaryFolder())
    defer { store.close() }
    for (player, referrer) in [("b", "a"), ("c", "a"), ("d", "a"), ("e", "b"), ("f", "b"), ("g", "e"), ("a", "g"), ("h", "g")] {
      try await store.write(.set(try Path(parsing: "/users/\(player)/referred_by"), .leaf(.string(referrer))))
    }
    let found = try store.ledger.tree(of: "a", in: store.namespace, depth: 4, limit: 2, after: nil, signedIn: nil)
    #expect(found.map(\.referral.player) == ["b", "c", "e", "f", "g", "h"])
    #expect(found.map(\.depth) == [1, 1, 2, 2, 3, 4])
    #expect(found.map(\.brought) == [2, 0, 1, 0, 2, 0] && found.map(\.shown) == [2, 0, 1, 0, 1, 0])
    let rest = try store.ledger.tree(of: "a", in: store.namespace, depth: 1, limit: 2, after: "c", signedIn: nil)
    #expect(rest.map(\.referral.player) == ["d"])
    #expect(try store.ledger.ancestors(of: "h", in: store.namespace) == ["g", "e", "b", "a"])
    #expect(try store.ledger.ancestors(of: "zed", in: store.namespace).isEmpty)
  }

  @Test("An index that was kept from a namespace's first commit is whole: the next start rebuilds nothing")
  func keptFromTheStart() async throws {
    let folder = TemporaryFolder()
    var store = try await Store(folder)
    try await store.write(.set("/users/bob/referred_by", "alice"))
    store.close()
    store = try await Store(folder)
    defer { store.close() }
    #expect(try await store.build() == 0)
    #expect(try store.brought(by: "alice") == ["bob"])
  }

  @Test("An index that was not kept is made from the tree, once; who declares none leaves it to be made again")
  func building() async throws {
    let folder = TemporaryFolder()
    var store = try await Store(folder, keepsIndex: false)
    for number in 0..<2500 {
      try await store.write(.set(try Path(parsing: "/users/p\(number)/referred_by"), .leaf(.string("r\(number % 7)"))))
    }
    #expect(try store.brought(by: "r3") == [])
    store.close()
    store = try await Store(folder)
    #expect(try await store.build() == 1)
    #expect(try await store.build() == 0)
    let expected = (0..<2500).filter { $0 % 7 == 3 }.map { "p\($0)" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(try store.brought(by: "r3") == expected)
    // A program that does not know of the path moves a player.
    store.close()
    store = try await Store(folder, keepsIndex: false)
    #expect(try await store.build(nil) == 0)
    try await store.write(.set("/users/p3/referred_by", "nobody"))
    store.close()
    store = try await Store(folder)
    #expect(try await store.build() == 1)
    #expect(try store.brought(by: "r3") == expected.filter { $0 != "p3" })
    #expect(try store.brought(by: "nobody") == ["p3"])
    store.close()
  }

  @Test("After random writes the index that was kept equals a rebuilt one", arguments: [UInt64(1), 2, 3])
  func model(seed: UInt64) async throws {
    let folder = TemporaryFolder()
    let store = try await Store(folder)
    defer { store.close() }
    _ = try await store.build()
    var random = SplitMix64(seed: seed)
    let names = (0..<6).map { "p\($0)" }
    for _ in 0..<200 {
      let player = names.randomElement(using: &random) ?? "p0"
      let referrer = TreeNode.leaf(.string(names.randomElement(using: &random) ?? "p0"))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try await store.write(.remove(try Path(parsing: "/users/\(player)")))
      case 1: try await store.write(.set(try Path(parsing: "/users/\(player)"), ["referred_by": referrer, "level": 3]))
      case 2: try await store.write(.set(try Path(parsing: "/users/\(player)/referred_by/deep"), referrer))
      default: try await store.write(.set(try Path(parsing: "/users/\(player)/referred_by"), referrer))
      }
    }
    let kept = try names.map { try store.brought(by: $0) }
    #expect(kept.contains { !$0.isEmpty })
    _ = try await store.build(nil)
    #expect(try await store.build() == 1)
    #expect(try names.map { try store.brought(by: $0) } == kept)
  }
}
