import Accounts
import Credentials
import FunctionsKit
import Logging
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import ServerApp

/// Anonymous accounts that nobody uses go after the configured time, unless something hangs on them.
struct AccountSweeperTests {
  @Test("Unused anonymous accounts go when their time is over; coins, a referral, an address or use keep them")
  func sweep() async throws {
    let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    var configuration = ServerConfiguration(storage: .memory)
    configuration.clock = clock
    configuration.passwordCost = .test
    configuration.accounts.signUpsPerHour = nil
    let application = try Application(configuration: configuration, functions: { _ in })
    try await application.startRooms()
    let namespace = try await application.database.openNamespace(named: configuration.defaultNamespace)
    let project = AccountProject(name: configuration.project, namespace: namespace)
    func call(_ fields: JSON) -> IdentityCall {
      IdentityCall(
        project: project, fields: IdentityFields(fields), isPrivileged: false, actor: .anonymous, address: "test",
        base: "http://localhost", apiKey: "k")
    }
    func anonymous() async throws -> (uid: String, session: JSON) {
      let made = try await application.accounts.signUp(call([:]))
      return (made["localId"]?.string ?? "", made)
    }
    let (idle, rich, spent, referred, linked, active) = (
      try await anonymous(), try await anonymous(), try await anonymous(), try await anonymous(), try await anonymous(),
      try await anonymous()
    )
    func write(_ path: String, _ node: TreeNode) async throws {
      let operation = WriteOperation.set(try Path(parsing: path), node)
      _ = try await application.database.commit(
        CommitRequest(namespace: namespace, actor: .admin("test"), operations: [operation]))
    }
    try await write("/users/\(idle.uid)/name", "Idle")
    try await write("/users/\(rich.uid)/inventory/pieces_of_eight", 50)
    try await write("/users/\(spent.uid)/inventory/pieces_of_eight", 50)
    try await write("/users/\(spent.uid)/inventory/pieces_of_eight", 0)
    try await write("/users/\(referred.uid)/referred_by", "alice")
    _ = try await application.accounts.signUp(
      call(["idToken": linked.session["idToken"] ?? .null, "email": "jim@x.io", "password": "secret1"]))
    let sweeper = AccountSweeper(
      book: application.accounts, engine: application.engine, currencies: configuration.currencies, clock: clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    func left() throws -> Set<String> {
      try application.engine.read { (snapshot) throws(StorageError) in
        Set(try snapshot.accounts(in: namespace, after: nil, limit: 100).map(\.uid))
      }
    }
    let all: Set = [idle.uid, rich.uid, spent.uid, referred.uid, linked.uid, active.uid]
    clock.advance(by: 29 * 86_400_000)
    await sweeper.sweep()
    #expect(try left() == all)
    _ = try await application.accounts.refresh(
      call(["grantType": "refresh_token", "refreshToken": active.session["refreshToken"] ?? .null]))
    clock.advance(by: 2 * 86_400_000)
    await sweeper.sweep()
    #expect(try left() == all.subtracting([idle.uid]))
    // Whoever comes back with the session is told that the account is gone.
    let error = await #expect(throws: AccountError.self) {
      _ = try await application.accounts.refresh(
        call(["grantType": "refresh_token", "refreshToken": idle.session["refreshToken"] ?? .null]))
    }
    #expect(error?.code == "USER_NOT_FOUND")
    clock.advance(by: 31 * 86_400_000)
    await sweeper.sweep()
    #expect(try left() == all.subtracting([idle.uid, active.uid]))
    await application.stop()
  }
}
