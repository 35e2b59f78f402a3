import Credentials
import Invites
import Ledger
import Links
import Messages
import RewardModel
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Accounts
@testable import PlayerLifecycle
@testable import StorageSQLite

/// A game on disk with everything that a player leaves traces in, and no server. The disk can be copied at any moment of any
/// commit.
final class PlayerFixture {
  /// Copies the disk when a commit of a number comes to a point; the copy is what a process that died there leaves.
  final class Camera: Sendable {
    private struct State {
      var wanted: (point: SQLiteFaults.Point, commit: Int, target: String)?
      var seen = 0
      var isTaken = false
    }

    private let state = Mutex(State())
    private let folder: String

    init(_ folder: String) { self.folder = folder }

    /// From now on commits are counted.
    func arm(_ point: SQLiteFaults.Point, commit: Int, to target: String) {
      state.withLock { $0 = State(wanted: (point, commit, target)) }
    }

    var isTaken: Bool { state.withLock(\.isTaken) }
    /// Commits that came to the point since the camera was armed.
    var seen: Int { state.withLock(\.seen) }

    func reach(_ point: SQLiteFaults.Point) {
      state.withLock { state in
        guard let wanted = state.wanted, wanted.point == point else { return }
        state.seen += 1
        guard state.seen == wanted.commit else { return }
        state.isTaken = (try? DiskFiles.copy(folder: folder, to: wanted.target)) != nil
      }
    }
  }

  let folder: TemporaryFolder
  let camera: Camera
  let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
  let engine: SQLiteEngine
  let database: Database
  let namespace: NamespaceID
  let accounts: AccountService
  let links: LinkService
  let invites: InvitationService
  let messages: MessageService
  let ledger: LedgerService

  init(folder: TemporaryFolder = TemporaryFolder(), data: String = "data") async throws {
    self.folder = folder
    let camera = Camera(folder.file(data))
    self.camera = camera
    engine = try SQLiteEngine(
      folder: DataFolder(folder.file(data)), options: SQLiteOptions(),
      faults: SQLiteFaults { point in
        camera.reach(point)
        return nil
      })
    let currencies = try CurrencyTable([.piecesOfEight])
    let watch = AccountWatch()
    let waiting = WaitingCampaigns()
    let hub = MessageHub(waiting: waiting)
    database = try Database(
      engine: engine,
      participants: [LedgerParticipant(table: currencies), MessageParticipant(waiting: waiting, referrer: nil)],
      observers: [watch, hub], clock: clock)
    namespace = try await database.openNamespace(named: "game")
    var options = AccountOptions()
    options.isDevelopment = true
    let ring = KeyRing([KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: 0)])
    accounts = AccountService(
      store: AccountStore(engine: engine, writer: database, watch: watch, clock: clock),
      issuer: IDTokenIssuer(mode: .unsigned, keys: CurrentKeys(ring)),
      hashing: PasswordHashing(hasher: PasswordHasher(cost: .test), threads: .inPlace), options: options,
      random: SplitMix64(seed: 6))
    let home = Home(database: database)
    links = try LinkService(engine: engine, writer: database, home: home, clock: clock, random: SplitMix64(seed: 7))
    invites = try InvitationService(engine: engine, writer: database, home: home, clock: clock, random: SplitMix64(seed: 8))
    var told = MessageOptions()
    told.isDevelopment = true
    messages = try MessageService(
      engine: engine, writer: database, home: home, clock: clock, random: SplitMix64(seed: 9),
      surroundings: CampaignSurroundings(zones: ZoneFiles { _ in nil }), hub: hub, options: told)
    ledger = LedgerService(engine: engine, writer: database, currencies: currencies)
  }

  /// A fixture for one test.
  static func run(_ test: (PlayerFixture) async throws -> Void) async throws {
    let fixture = try await PlayerFixture()
    defer { fixture.close() }
    try await test(fixture)
  }

  func close() {
    database.shutDown()
    engine.close()
  }

  /// The namespace of links, invitations and messages.
  private struct Home: LinkNamespace, InvitationNamespace, MessageNamespace {
    let database: Database

    func known() -> NamespaceID? { database.namespace(named: "game") }
    func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: "game") }
  }

  // MARK: Writing

  @discardableResult
  func commit(_ operations: [WriteOperation] = [], _ fill: (inout CommitRequest) -> Void = { _ in }) async throws -> Revision {
    var request = CommitRequest(namespace: namespace, actor: .admin("test"), operations: operations)
    fill(&request)
    return try await database.commit(request).revision
  }

  func createAccount(_ uid: String, email: String? = nil, name: String? = nil) async throws {
    var record = AccountRecord(uid: uid, createdAt: clock.now())
    record.email = email
    record.displayName = name
    try await commit { [accounts, clock, record] request in
      request.decision = AccountChange(accounts.options, clock: clock) { transaction in
        var record = record
        try transaction.save(&record, from: nil)
      }
    }
  }

  func pay(_ amount: Int64, to account: String, key: String) async throws {
    let transfer = LedgerTransfer(
      debit: LedgerAccount("issuance:signup"), credit: LedgerAccount(account), amount: amount, unit: "pieces_of_eight",
      code: "signup", key: BusinessKey(key))
    _ = try await ledger.transfer(transfer, in: namespace, by: .admin("test"))
  }

  // MARK: Reading

  func read<Value>(_ body: (any Snapshot) throws -> Value) throws -> Value { try engine.read(body) }

  func head() throws -> Revision {
    try read { snapshot in try snapshot.head(of: namespace).revision }
  }

  func account(_ uid: String) throws -> AccountRecord? {
    try read { snapshot in try snapshot.account(in: namespace, uid: uid) }
  }

  func scalar(_ path: Path) throws -> Scalar? {
    try read { snapshot in try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar }
  }

  func balance(of account: String) throws -> Int64 {
    try ledger.balance(in: namespace, of: LedgerAccount(account), unit: "pieces_of_eight")
  }
}

// MARK: - Erasure

extension PlayerFixture {
  var erasure: PlayerErasure {
    PlayerErasure(
      database: database, accounts: accounts, recordStores: [links, invites, messages], functions: nil, ledger: nil,
      replacementAnswer: Array("erased".utf8))
  }

  func order(_ uid: String) throws -> PlayerErasure.Order {
    let paths = try PersonalPaths(of: uid, currencies: [.piecesOfEight], patterns: ["/board/{uid}"]).paths
    return PlayerErasure.Order(uid: uid, paths: paths, actor: .admin("ann"), reason: "asked")
  }

  /// A player with all that is erased: an account with an address, a record, coins, a link, invitations, mails. And another one.
  func populate() async throws {
    try await createAccount("bob", email: "\(PlayerFixture.secret)@mail.example", name: PlayerFixture.secret)
    let names: TreeNode = .leaf(.string(PlayerFixture.secret))
    try await commit([.set("/users/bob/name", names), .set("/users/alice/name", "Alice"), .set("/board/bob", names)])
    try await commit([.set("/users/bob/name", "B")])
    try await commit([.set("/users/bob/inventory/pieces_of_eight", 50)])
    let mail = "{\"to\":\"\(PlayerFixture.secret)@mail.example\",\"words\":\"\(PlayerFixture.secret)\"}"
    try await commit { request in
      request.rows.outbox = [
        OutboxRecord(
          key: "code/1", outlet: "mail", payload: mail, cause: nil, state: .delivered, attempts: 1, nextAttemptAt: 0,
          lastError: nil, createdAt: 1),
        OutboxRecord(
          key: "invite/i1", outlet: "mail", payload: "{\"to\":\"carol@x.io\",\"from\":\"\(PlayerFixture.secret)\"}", cause: nil,
          state: .delivered, attempts: 1, nextAttemptAt: 0, lastError: nil, createdAt: 1),
      ]
      request.rows.records = [
        Self.invite("i1", by: "bob", to: "carol@x.io"),
        Self.invite("i2", by: "alice", to: "\(PlayerFixture.secret)@mail.example"),
        KeyedRecordChange(kind: "invite_mark", key: "i1/clicked", value: "{\"at\":1}"),
        KeyedRecordChange(
          kind: "link", key: "go.game.test/bobs",
          value:
            "{\"says\":\"link=https%3A%2F%2Fgame.test%2F&st=\(PlayerFixture.secret)\",\"option\":\"SHORT\",\"at\":1,\"owner\":\"bob\",\"code\":\"BOB1\"}"
        ),
        KeyedRecordChange(kind: "link_code", key: "BOB1", value: "go.game.test/bobs"),
        KeyedRecordChange(kind: "link_same", key: "abc", value: "go.game.test/bobs"),
      ]
    }
  }

  /// The player's name, address and words: where it is found afterwards, something was left.
  static let secret = "bobthesecretpirate"

  private static func invite(_ id: String, by sender: String, to recipient: String) -> KeyedRecordChange {
    let text = """
      {"id":"\(id)","channel":"email","campaign":"default","locale":"en","sender":"\(sender)","to":"\(recipient)",\
      "link":"https://go.game.test/i/\(id)","createdAt":1}
      """
    return KeyedRecordChange(kind: "invite", key: id, value: text)
  }

  /// Everything that must be true once the erasure is done, whatever happened on the way.
  func checkErased(_ context: String) throws {
    try engine.read { snapshot in
      let record = try snapshot.erasure(in: namespace, of: "bob")
      #expect(record?.state == .done && record?.addresses == [], "\(context)")
      #expect(try snapshot.account(in: namespace, uid: "bob") == nil, "\(context)")
      for path: Path in ["/users/bob", "/board/bob"] {
        #expect(try snapshot.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty, "\(context)")
        #expect(
          try snapshot.touches(in: namespace, under: PathBytes(path), before: nil, limit: 9).revisions.isEmpty, "\(context)")
      }
      #expect(try snapshot.record(in: namespace, kind: "invite", key: "i1") == nil, "\(context)")
      #expect(try snapshot.record(in: namespace, kind: "invite_mark", key: "i1/clicked") == nil, "\(context)")
      #expect(try snapshot.record(in: namespace, kind: "invite", key: "i2")?.contains("\"to\"") == false, "\(context)")
      for (kind, key) in [("link", "go.game.test/bobs"), ("link_code", "BOB1"), ("link_same", "abc")] {
        #expect(try snapshot.record(in: namespace, kind: kind, key: key) == nil, "\(context)")
      }
      for key in ["code/1", "invite/i1"] {
        #expect(try snapshot.outbox(in: namespace, key: key)?.payload == "\"erased\"", "\(context): \(key)")
      }
      // The others' values, also of then.
      let alice = try snapshot.leaves(in: namespace, under: PathBytes("/users/alice"), asOf: Revision(2), limit: 9)
      #expect(alice.map(\.leaf.scalar) == ["Alice"], "\(context)")
      let report = try LogAudit.verify(snapshot, namespace: namespace)
      #expect(report.isSound && report.unsealed.isEmpty, "\(context): \(report.faults.map(\.message))")
    }
    #expect(try ledger.verify(namespace).isSound, "\(context)")
    let fresh = try SQLiteEngine.inMemory()
    defer { fresh.close() }
    let rebuilt = try engine.read { snapshot in try StoreRebuild.run("game", from: snapshot, into: fresh)
    }
    #expect(rebuilt.isEqual, "\(context): \(rebuilt.faults.map(\.message))")
  }
}
