import Credentials
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Accounts
@testable import StorageSQLite

/// A process that dies while a player links an address: afterwards the account is linked or it is not, never half.
struct LinkCrashTests {
  /// Copies the disk when the next commit comes to a point.
  private final class Camera: Sendable {
    private let wanted = Mutex<(point: SQLiteFaults.Point, from: String, to: String)?>(nil)

    func arm(_ point: SQLiteFaults.Point, from: String, to: String) { wanted.withLock { $0 = (point, from, to) } }

    func reach(_ point: SQLiteFaults.Point) {
      wanted.withLock { wanted in
        guard let found = wanted, found.point == point else { return }
        try? DiskFiles.copy(folder: found.from, to: found.to)
        wanted = nil
      }
    }
  }

  /// A store with its accounts; the process that the test lets die, or the one after it.
  private final class Life {
    let engine: SQLiteEngine
    let database: Database
    let accounts: AccountService
    let project: AccountProject

    init(_ folder: String, camera: Camera? = nil) async throws {
      engine = try SQLiteEngine(
        folder: DataFolder(folder), options: SQLiteOptions(),
        faults: SQLiteFaults { point in
          camera?.reach(point)
          return nil
        })
      let watch = AccountWatch()
      let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
      database = try Database(engine: engine, participants: [], observers: [watch], clock: clock)
      var options = AccountOptions()
      options.isDevelopment = true
      accounts = AccountService(
        store: AccountStore(engine: engine, writer: database, watch: watch, clock: clock),
        issuer: IDTokenIssuer(mode: .unsigned, keys: CurrentKeys(whenNeeded: { KeyRing([]) })),
        hashing: PasswordHashing(hasher: PasswordHasher(cost: .test), threads: .inPlace), options: options,
        random: SplitMix64(seed: 7))
      project = AccountProject(name: "game", namespace: try await database.openNamespace(named: "game"))
    }

    func close() {
      database.shutDown()
      engine.close()
    }

    var context: AccountContext { AccountContext(project: project, network: "test", serverURL: "http://localhost") }

    func link(_ token: String?) async throws -> SignedInAccount {
      var order = PasswordSignUp(email: try #require(EmailAddress("jim@x.io")), password: "secret1")
      order.idToken = token
      order.displayName = "Jim"
      return try await accounts.signUp(order, context)
    }
  }

  @Test(
    "Linked or not, never half: the account, whom its address leads to, its public part, and the log say the same",
    arguments: [SQLiteFaults.Point.beforeRows, .beforeCommit, .afterCommit])
  func link(point: SQLiteFaults.Point) async throws {
    let folder = TemporaryFolder()
    let camera = Camera()
    let first = try await Life(folder.file("data"), camera: camera)
    let made = try await first.accounts.signUpAnonymously(first.context)
    let uid = made.account.uid
    camera.arm(point, from: folder.file("data"), to: folder.file("copy"))
    _ = try await first.link(made.result.tokens?.idToken)
    first.close()

    let second = try await Life(folder.file("copy"))
    let isLinked = point == .afterCommit
    try second.engine.read { snapshot in
      let namespace = second.project.namespace
      let record = try snapshot.account(in: namespace, uid: uid)
      #expect(record?.isAnonymous == !isLinked)
      #expect(record?.email == (isLinked ? "jim@x.io" : nil))
      #expect((record?.password != nil) == isLinked)
      let owner = try snapshot.account(in: namespace, identifier: AccountIdentifier(kind: "email", value: "jim@x.io"))
      #expect(owner?.uid == (isLinked ? uid : nil))
      let path = PathBytes(AccountRecord.path(of: uid))
      let leaves = try snapshot.leaves(in: namespace, under: path, limit: 100).map(\.leaf)
      #expect(TreeNode(leaves: leaves, at: path) == record?.publicNode)
      #expect(try LogAudit.verify(snapshot, namespace: namespace).isSound)
    }
    // The client, which got no answer, asks again: it is linked then, to the same uid.
    let again = try await second.link(made.result.tokens?.idToken)
    #expect(again.account.uid == uid)
    let email = try #require(EmailAddress("jim@x.io"))
    let signedIn = try await second.accounts.signIn(email: email, password: "secret1", context: second.context)
    #expect(signedIn.account.uid == uid)
    second.close()
  }
}
