import Credentials
import StorageCore
import StorageSQLite
import TestSupport
import TreeDatabase
import TreeModel

@testable import Accounts

/// The accounts of one project on a store in memory and a clock that stands still, without a wire.
struct AccountFixture {
  static let start: Int64 = 1_700_000_000_000
  static let day: Int64 = 86_400_000

  let book: AccountService
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
    let book = AccountService(
      engine: engine, writer: database, watch: watch, clock: clock,
      issuer: IDTokenIssuer(mode: .unsigned, keys: CurrentKeys(ring)), hasher: PasswordHasher(cost: .test),
      hashing: .inPlace, options: options, random: SplitMix64(seed: 7))
    let namespace = try await database.openNamespace(named: "game")
    let house = AccountFixture(
      book: book, database: database, clock: clock, project: AccountProject(name: "game", namespace: namespace))
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await test(house))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    engine.close()
    try outcome.get()
  }

  func call(_ fields: JSON, isPrivileged: Bool = false) -> IdentityCall {
    IdentityCall(
      project: project, fields: IdentityFields(fields), isPrivileged: isPrivileged,
      actor: isPrivileged ? .admin("test") : .anonymous, address: "192.0.2.1", base: "http://localhost", apiKey: "k")
  }

  /// A new anonymous player: uid and refresh token.
  func anonymous() async throws -> (uid: String, token: String) {
    let made = try await book.signUp(call([:]))
    return (made["localId"]?.string ?? "", made["refreshToken"]?.string ?? "")
  }

  /// What a refresh answers: `ok`, or the error's code.
  func refresh(_ token: String) async -> String {
    do throws(AccountError) {
      _ = try await book.refresh(call(["grantType": "refresh_token", "refreshToken": .string(token)]))
      return "ok"
    } catch {
      return error.code
    }
  }

  /// The sessions of an account that are stored.
  func sessions(of uid: String) throws -> Int {
    try database.engine.read { (snapshot) throws(StorageError) in
      try snapshot.refreshTokens(in: project.namespace, of: uid).count
    }
  }
}
