import Credentials
import StorageCore
import StorageSQLite
import StorageTestSupport
import Testing
import TestSupport
import TreeDatabase
import TreeModel

@testable import Accounts

/// The accounts of one project on a store in memory and a clock that stands still, without a wire.
struct AccountFixture {
  /// Whose defaults hold.
  enum Mode { case development, production }

  /// What accounts are given from outside.
  struct Surroundings: Sendable {
    var identities: any IdentityProving = NoIdentities()
    var limits = WriteLimits()
    var threads = OffLoopWork.inPlace
    var tokens = IDTokenIssuer.Mode.unsigned
    var decider: (any SignInDeciding)?
  }

  static let start: Int64 = 1_700_000_000_000
  static let day: Int64 = 86_400_000

  let accounts: AccountService
  let database: Database
  let clock: AdjustableClock
  let project: AccountProject
  /// What would have been mailed.
  let letters: Letterbox

  static func run(
    as mode: Mode = .development, _ change: (inout AccountOptions) -> Void = { _ in },
    with surroundings: Surroundings = Surroundings(), _ test: (AccountFixture) async throws -> Void
  ) async throws {
    let engine = try TestStore.open()
    let clock = AdjustableClock(frozenAt: start)
    let watch = AccountWatch()
    let database = try Database(
      engine: engine, participants: [], observers: [watch], limits: surroundings.limits, clock: clock)
    var options = AccountOptions()
    switch mode {
    case .development:
      options.isDevelopment = true
      options.signUpsPerHour = nil
    case .production: options.publicURL = "https://rewards.example"
    }
    change(&options)
    let ring = KeyRing([KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: 0)])
    let letters = Letterbox()
    let accounts = AccountService(
      store: AccountStore(engine: engine, writer: database, watch: watch, clock: clock),
      issuer: IDTokenIssuer(mode: surroundings.tokens, keys: CurrentKeys(ring)),
      hashing: PasswordHashing(hasher: PasswordHasher(cost: .test), threads: surroundings.threads), options: options,
      identities: surroundings.identities, delivery: CodeDelivery(mail: letters),
      decider: surroundings.decider, random: SplitMix64(seed: 7))
    let namespace = try await database.openNamespace(named: "game")
    let fixture = AccountFixture(
      accounts: accounts, database: database, clock: clock, project: AccountProject(name: "game", namespace: namespace),
      letters: letters)
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

  // MARK: Who asks

  /// A client's request.
  var client: AccountContext { client(from: "192.0.2.1") }

  /// A client's request from a network.
  func client(from network: String) -> AccountContext {
    AccountContext(project: project, network: network, serverURL: "https://rewards.example", apiKey: "k")
  }

  /// An administrator's request.
  var administrator: AccountContext {
    AccountContext(
      project: project, administrator: .admin("test"), network: "192.0.2.1", serverURL: "https://rewards.example")
  }

  func email(_ text: String) throws -> EmailAddress { try #require(EmailAddress(text)) }

  func number(_ text: String = "+4915112345678") throws -> PhoneNumber { try #require(PhoneNumber(text)) }

  // MARK: Signing up and in

  /// A new anonymous player.
  func anonymous() async throws -> Player { Player(try await accounts.signUpAnonymously(client)) }

  /// A new player with a password, or one whose account gets it.
  @discardableResult
  func signUp(_ email: String, _ password: String = "secret1", linking player: Player? = nil, from network: String? = nil)
    async throws -> Player
  {
    var order = PasswordSignUp(email: try self.email(email), password: password)
    order.idToken = player?.idToken
    return Player(try await accounts.signUp(order, network.map(client(from:)) ?? client))
  }

  /// A sign-in by a password.
  @discardableResult
  func signIn(_ email: String, _ password: String = "secret1", from network: String? = nil) async throws -> Player {
    Player(
      try await accounts.signIn(
        email: try self.email(email), password: password, context: network.map(client(from:)) ?? client))
  }

  /// A sign-in by an identity that development believes; a conflict is thrown.
  @discardableResult
  func signIn(as claims: JSON, at provider: String = "google.com", linking player: Player? = nil) async throws -> Player {
    switch try await federate(claims, at: provider, linking: player).outcome {
    case .signedIn(let signedIn): return Player(signedIn)
    case .conflict(let error): throw error
    case .needsConfirmation(let account): throw NeedsConfirmation(account: account)
    }
  }

  /// An address that leads to an account, whose owner the provider does not vouch for.
  struct NeedsConfirmation: Error {
    let account: AccountRecord
  }

  func federate(_ claims: JSON, at provider: String = "google.com", linking player: Player? = nil) async throws
    -> FederatedSignIn
  {
    var assertion = IdentityAssertion(provider: try #require(ProviderID(provider)))
    assertion.idToken = claims.compactText
    return try await accounts.federation.signIn(assertion, idToken: { player?.idToken }, context: client)
  }

  /// A new player with a password, whose address an administrator confirmed.
  func verifiedPlayer(_ email: String) async throws -> Player {
    let player = try await signUp(email)
    try await administer(player.uid) { $0.isEmailVerified = true }
    return player
  }

  // MARK: Changing

  /// What a player changes.
  func update(_ player: Player, email: String? = nil, revokes: Bool = false, _ edit: (inout AccountEdits) -> Void = { _ in })
    async throws -> UpdatedAccount
  {
    var update = ProfileUpdate(idToken: player.idToken)
    update.email = try email.map(self.email)
    update.isRevoking = revokes
    edit(&update.edits)
    return try await accounts.profiles.update(update, client)
  }

  /// What an administrator changes.
  @discardableResult
  func administer(_ uid: String, _ edit: (inout AccountDraft) -> Void) async throws -> AccountRecord {
    var draft = AccountDraft()
    edit(&draft)
    return try await accounts.update(uid, to: draft, administrator).account
  }

  /// What an administrator sets for the project.
  func configure(_ edit: @escaping @Sendable (inout AccountSettings) -> Void) async throws {
    try await accounts.changeSettings(of: project, by: .admin("test")) { settings in
      var settings = settings
      edit(&settings)
      return settings
    }
  }

  /// Asks for a code, which is mailed.
  ///
  /// - Returns: the code, as the letter has it.
  func mail(_ purpose: CodeRequest.Purpose, from network: String? = nil) async throws -> String {
    _ = try await accounts.emailCodes.send(CodeRequest(purpose), network.map(client(from:)) ?? client)
    return try letters.lastCode()
  }

  // MARK: Tokens

  /// What an ID token says.
  func token(_ idToken: String) throws -> IDToken {
    try accounts.issuer.verify(idToken, project: project.name, at: clock.now())
  }

  /// What the ID token of a player says.
  func token(_ player: Player) throws -> IDToken { try token(player.idToken) }

  /// What a refresh gives.
  func refreshed(_ player: Player) async throws -> Player {
    let tokens = try await accounts.refresh(player.refreshToken, of: project).tokens
    return Player(account: player.account, result: .tokens(tokens))
  }

  /// Why a refresh is refused; nil if it is not.
  func refresh(_ token: String) async -> AccountError? {
    await error { _ = try await accounts.refresh(token, of: project) }
  }

  /// Why a player's ID token opens the account no more; nil if it does.
  func refusal(of player: Player) async -> AccountError? {
    await error { _ = try accounts.profiles.account(idToken: player.idToken, of: project) }
  }

  // MARK: Looking

  /// What something throws; nil if nothing.
  func error(_ body: () async throws -> Void) async -> AccountError? {
    do {
      try await body()
    } catch let error as AccountError {
      return error
    } catch {
      Issue.record(error, "This is no error of accounts.")
    }
    return nil
  }

  /// An account that exists.
  func record(_ uid: String) throws -> AccountRecord { try #require(try accounts.account(uid, of: project)) }

  /// The sessions of an account that are stored.
  func sessions(of uid: String) throws -> Int {
    try read { (snapshot) throws(StorageError) in try snapshot.refreshTokens(in: project.namespace, of: uid).count }
  }

  func read<Value, E: Error>(_ body: (any Snapshot) throws(E) -> Value) throws(E) -> Value { try database.engine.read(body) }
}
