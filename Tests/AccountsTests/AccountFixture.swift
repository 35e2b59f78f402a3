import Credentials
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Accounts

/// The accounts of one project on a store in memory and a clock that stands still, without a wire.
struct AccountFixture {
  static let start: Int64 = 1_700_000_000_000
  static let day: Int64 = 86_400_000

  let accounts: AccountService
  let database: Database
  let clock: AdjustableClock
  let project: AccountProject

  static func run(
    _ change: (inout AccountOptions) -> Void = { _ in }, _ test: (AccountFixture) async throws -> Void
  ) async throws {
    let engine = try SQLiteEngine.inMemory()
    let clock = AdjustableClock(frozenAt: start)
    let watch = AccountWatch()
    let database = try Database(engine: engine, participants: [], observers: [watch], clock: clock)
    var options = AccountOptions()
    options.isDevelopment = true
    options.signUpsPerHour = nil
    change(&options)
    let ring = KeyRing([KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: 0)])
    let accounts = AccountService(
      store: AccountStore(engine: engine, writer: database, watch: watch, clock: clock),
      issuer: IDTokenIssuer(mode: .unsigned, keys: CurrentKeys(ring)),
      hashing: PasswordHashing(hasher: PasswordHasher(cost: .test), threads: .inPlace), options: options,
      random: SplitMix64(seed: 7))
    let namespace = try await database.openNamespace(named: "game")
    let fixture = AccountFixture(
      accounts: accounts, database: database, clock: clock, project: AccountProject(name: "game", namespace: namespace))
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await test(fixture))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    engine.close()
    try outcome.get()
  }

  /// A client's request.
  var client: AccountContext { AccountContext(project: project, network: "192.0.2.1", serverURL: "http://localhost") }

  /// An administrator's request.
  var administrator: AccountContext {
    AccountContext(
      project: project, administrator: .admin("test"), network: "192.0.2.1", serverURL: "http://localhost")
  }

  /// A new anonymous player.
  func anonymous() async throws -> Player { Player(try await accounts.signUpAnonymously(client)) }

  /// A new player with a password, or one whose anonymous account gets it.
  @discardableResult
  func signUp(_ email: String, _ password: String = "secret1", linking player: Player? = nil) async throws -> Player {
    var order = PasswordSignUp(email: try #require(EmailAddress(email)), password: password)
    order.idToken = player?.idToken
    return Player(try await accounts.signUp(order, client))
  }

  /// A sign-in by a password.
  func signIn(_ email: String, _ password: String = "secret1") async throws -> Player {
    Player(try await accounts.signIn(email: try #require(EmailAddress(email)), password: password, context: client))
  }

  /// Why a refresh is refused; nil if it is not.
  func refresh(_ token: String) async -> AccountError? {
    await error { _ = try await accounts.refresh(token, of: project) }
  }

  /// What something throws; nil if nothing, or nothing of accounts.
  func error(_ body: () async throws -> Void) async -> AccountError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? AccountError
    }
  }

  /// The sessions of an account that are stored.
  func sessions(of uid: String) throws -> Int {
    try database.engine.read { snapshot in
      try snapshot.refreshTokens(in: project.namespace, of: uid).count
    }
  }
}

/// A player with a session.
struct Player {
  let account: AccountRecord
  let result: SignInResult
  var uid: String { account.uid }
  var idToken: String { result.tokens?.idToken ?? "" }
  var refreshToken: String { result.tokens?.refreshToken ?? "" }

  init(_ signedIn: SignedInAccount) {
    account = signedIn.account
    result = signedIn.result
  }
}
