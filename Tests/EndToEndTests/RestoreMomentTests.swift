import AdminModel
import Ledger
import RewardModel
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminAPI
@testable import AdminClient
@testable import ServerConfiguration
@testable import StorageSQLite

/// A restored store that was brought back to an earlier moment is what it was then, and pays what was pending once.
struct RestoreMomentTests {
  private static let namespace = "demo-default-rtdb"
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  /// The file of a store with rewards for three players, a transfer, an idempotent write and an index; and its last revision.
  private static func played() async throws -> (bytes: [UInt8], head: Int64) {
    let server = try await RunningServer(folder: TemporaryFolder(isInMemory: true))
    do {
      let client = server.client
      _ = try await client.put("/.settings/rules.json", ["rules": ["users": [".indexOn": ["level"]]]] as JSON)
      for name in ["anne", "mary", "jack"] {
        _ = try await client.put("/users/\(name).json", ["referred_by": "bob", "level": 4] as JSON)
        _ = try await client.put("/users/\(name)/last_signin_at.json", 1, headers: waits)
        _ = try await client.put(
          "/users/\(name)/level.json", 5, headers: ["X-Doubloon-Wait": "effects", "Idempotency-Key": "key-\(name)"])
        _ = try await client.put("/users/\(name)/level.json", 6)
      }
      _ = try await client.post(
        "/admin/v1/ledger/transfer",
        [
          "debit": "issuance:support", "credit": "user:bob", "amount": 7, "unit": "pieces_of_eight", "key": "s/1",
          "reason": "sorry",
        ] as JSON)
      _ = try await client.put("/users/jack.json", JSON.null)
      _ = try await client.post("/admin/v1/drain")
      let head = try await client.call(AdminSystem.namespaces).value.namespaces.first?.revision ?? 0
      await server.stop()
      return (try FileBytes.contents(of: server.folder.file("data/doubloon.db")), head)
    } catch {
      await server.stop()
      throw error
    }
  }

  /// A folder with a backup of these bytes.
  private static func folder(_ bytes: [UInt8]) throws -> TemporaryFolder {
    let folder = TemporaryFolder(isInMemory: true)
    try FileBytes.write(bytes, to: folder.file("backup"))
    return folder
  }

  private static func restore(_ folder: TemporaryFolder, to moment: StoreMoment) throws {
    try SQLiteEngine.restore(
      from: folder.file("backup"), to: folder.file("data"), moment: moment, derivedKinds: ReferralBuild.derivedKinds)
  }

  /// All leaves of the namespace with their revisions, its last revision, and the business keys of its entries.
  private struct State: Equatable {
    var leaves: [PathBytes: Scalar] = [:]
    var head: Int64 = 0
    var keys: [String] = []

    init(of engine: SQLiteEngine, asOf revision: Int64? = nil) throws {
      try engine.read { snapshot throws in
        let ns = try #require(try snapshot.namespaces().first { $0.name == RestoreMomentTests.namespace }).id
        head = try revision ?? snapshot.head(of: ns).revision.rawValue
        let found = try snapshot.leaves(in: ns, under: PathBytes(bytes: []), asOf: Revision(head), limit: 100_000)
        leaves = Dictionary(found.map { ($0.leaf.path, $0.leaf.scalar) }) { $1 }
        keys = try snapshot.entries(in: ns, after: 0, limit: 1000).filter { $0.revision <= head }.map(\.transfer.key.text)
      }
    }
  }

  @Test("at every revision: the tree and the ledger are those of the moment, and everything is sound")
  func everyRevision() async throws {
    let (bytes, head) = try await Self.played()
    #expect(head >= 20)
    let whole = try Self.folder(bytes)
    try FileBytes.write(bytes, to: whole.file("doubloon.db"))
    let original = try SQLiteEngine(directory: whole.path)
    defer { original.close() }
    for revision in 0...head {
      let folder = try Self.folder(bytes)
      try Self.restore(folder, to: .revision(Revision(revision), namespace: revision % 2 == 0 ? nil : Self.namespace))
      let engine = try SQLiteEngine(directory: folder.file("data"))
      defer { engine.close() }
      #expect(engine.epoch == 2)
      let expected = try State(of: original, asOf: revision)
      #expect(try State(of: engine) == expected, "revision \(revision)")
      let past = try State(of: engine, asOf: revision / 2)
      #expect(try past == State(of: original, asOf: revision / 2), "revision \(revision)")
      // The index of referrals is made by the next start.
      let report = StoreVerification.run(engine, currencies: try CurrencyTable([.piecesOfEight]), referrals: nil).answer
      #expect(report.sound, "revision \(revision): \(report)")
    }
  }

  @Test("what was pending at the moment is paid once, and the game goes on", arguments: 0..<5)
  func goesOn(part: Int64) async throws {
    let (bytes, head) = try await Self.played()
    let folder = try Self.folder(bytes)
    let revision = 3 + (head - 4) * part / 5
    try Self.restore(folder, to: .revision(Revision(revision), namespace: nil))
    let server = try await RunningServer(folder: folder)
    do {
      try await Self.playOn(server.client, revision: revision)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private static func playOn(_ client: AdminClient, revision: Int64) async throws {
    _ = try await client.post("/admin/v1/drain")
    for _ in 0..<2 {
      for name in ["anne", "mary", "jack"] {
        _ = try await client.put("/users/\(name)/referred_by.json", "bob", headers: waits)
        _ = try await client.put("/users/\(name)/last_signin_at.json", 1, headers: waits)
        _ = try await client.put("/users/\(name)/level.json", 4, headers: waits)
        _ = try await client.put("/users/\(name)/level.json", 5, headers: waits)
      }
    }
    _ = try await client.post("/admin/v1/drain")
    for name in ["anne", "mary", "jack"] {
      let coins = try await client.get("/users/\(name)/inventory/pieces_of_eight.json").int
      #expect(coins == 50, "\(name) after revision \(revision)")
    }
    let keys = try await client.get("/admin/v1/ledger/entries")["entries"]?.array?.compactMap { $0["key"]?.string } ?? []
    #expect(Set(keys).count == keys.count)
    let support: Int64 = keys.contains("s/1") ? 7 : 0
    #expect(try await client.get("/users/bob/inventory/pieces_of_eight.json").int == 150 + support, "revision \(revision)")
    let verification = try await client.call(AdminSystem.verify).value
    #expect(verification.sound, "revision \(revision): \(verification)")
    let listed = try await client.get("/users.json", query: [QueryItem("orderBy", "\"level\""), QueryItem("equalTo", "5")])
    #expect(listed.object?.count == 3)
  }

  @Test("a time is the last commit that was not later, and what cannot be brought back is refused")
  func limits() async throws {
    let (bytes, last) = try await Self.played()
    let folder = try Self.folder(bytes)
    try Self.restore(folder, to: .time(.max))
    let engine = try SQLiteEngine(directory: folder.file("data"))
    #expect(try State(of: engine).head == last)
    engine.close()
    let rows: [(StoreMoment, String)] = [
      (.revision(Revision(last + 1), namespace: nil), "has no revision"),
      (.revision(Revision(-1), namespace: nil), "has no revision"),
      (.revision(Revision(1), namespace: "other"), "--ns"),
    ]
    for (moment, part) in rows {
      let other = try Self.folder(bytes)
      let error = #expect(throws: StorageError.self) { try Self.restore(other, to: moment) }
      #expect(error?.code == .unsuitable && error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
    // In this one a player was erased.
    let store = try await WrittenStore.shared.value
    let erased = try Self.folder(store.bytes)
    let error = #expect(throws: StorageError.self) {
      try Self.restore(erased, to: .revision(Revision(3), namespace: Self.namespace))
    }
    #expect(error?.message.contains("erased a player") == true, "\(error?.message ?? "")")
    // After the erasure there is a past again, with a dead letter, a replay and a long history.
    let later = try Self.folder(store.bytes)
    let head = try StoreSummary(of: later.file("backup")).namespaces[0].revision
    try Self.restore(later, to: .revision(Revision(head - 1), namespace: Self.namespace))
    let moved = try SQLiteEngine(directory: later.file("data"))
    defer { moved.close() }
    #expect(try State(of: moved).head == head - 1)
    let report = StoreVerification.run(moved, currencies: try CurrencyTable([.piecesOfEight]), referrals: nil).answer
    #expect(report.sound, "\(report)")
  }
}
