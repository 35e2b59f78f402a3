package import Credentials
package import StorageCore
import Synchronization

/// The store that accounts are in.
package struct AccountStore: Sendable {
  let engine: any StorageEngine
  let writer: any TreeWriter
  let watch: AccountWatch
  let clock: any WallClock

  /// - Parameters:
  ///   - engine: for reading.
  ///   - writer: for changes.
  ///   - watch: which tokens are void; also to be given to the database as an observer.
  ///   - clock: the source of time.
  package init(engine: any StorageEngine, writer: any TreeWriter, watch: AccountWatch, clock: any WallClock) {
    self.engine = engine
    self.writer = writer
    self.watch = watch
    self.clock = clock
  }
}

/// The accounts of all projects: signing up and in, changing them, and what administrators do.
///
/// A call reads a snapshot to learn what it needs (a hash to check, an address to mail to), does what is slow on other threads,
/// and then decides on the writer (``AccountChange``), on the state that it changes. See <doc:Accounts>.
///
/// Everything here takes and gives values, and throws `AccountError`.
package final class AccountService: Sendable {
  /// How accounts are kept.
  package let options: AccountOptions
  /// Who issues and verifies ID tokens.
  package let issuer: IDTokenIssuer
  let store: AccountStore
  let passwords: PasswordHashingService
  let throttle: Throttle
  let sentCodes = SentCodeStore()
  let pendingFactors = PendingFactorStore()
  /// How far the clean-up came, in each namespace.
  let sweepMarks = Mutex<[NamespaceID: AccountCleaner.Mark]>([:])
  let identities: any IdentityProving
  let delivery: CodeDelivery
  /// Who decides about sign-ups and sign-ins; nil where nobody does.
  private let decider: (any SignInDeciding)?
  private let random: SharedRandom

  /// The source of time.
  package var clock: any WallClock { store.clock }
  /// Which tokens are void.
  package var watch: AccountWatch { store.watch }

  /// - `hashing`: what hashing passwords costs, and where it is done.
  /// - `identities`: answers who somebody is at an identity provider.
  /// - `delivery`: how codes reach their players.
  /// - `decider`: who decides about sign-ups and sign-ins.
  package init(
    store: AccountStore, issuer: IDTokenIssuer, hashing: PasswordHashing, options: AccountOptions = AccountOptions(),
    identities: any IdentityProving = NoIdentities(), delivery: CodeDelivery = CodeDelivery(),
    decider: (any SignInDeciding)? = nil, random: any RandomNumberGenerator & Sendable
  ) {
    self.store = store
    self.issuer = issuer
    self.options = options
    self.identities = identities
    self.delivery = delivery
    self.decider = decider
    let shared = SharedRandom(random)
    self.random = shared
    passwords = PasswordHashingService(hashing, options: options, random: { shared })
    throttle = Throttle(options: options)
  }

  // MARK: Subjects

  /// What players do with their own accounts.
  package var profiles: ProfileService { ProfileService(self) }
  /// Codes that are mailed.
  package var emailCodes: EmailCodeService { EmailCodeService(self) }
  /// Signing in by telephone.
  package var phones: PhoneSignInService { PhoneSignInService(self) }
  /// Signing in by identity providers.
  package var federation: FederatedSignInService { FederatedSignInService(self) }
  /// Second factors.
  package var secondFactors: SecondFactorService { SecondFactorService(self) }
  /// The tenants of projects.
  package var tenants: TenantService { TenantService(self) }
  /// What is set up about identity providers.
  package var providers: ProviderConfigurationService { ProviderConfigurationService(self) }
  /// Accounts from elsewhere.
  package var importer: AccountImporter { AccountImporter(self) }
  /// What is removed when its time is over.
  package var cleaner: AccountCleaner { AccountCleaner(self) }

  // MARK: Reading

  func read<Value>(_ body: (any Snapshot) throws -> Value) throws -> Value {
    do {
      return try store.engine.read(body)
    } catch let error as StorageError {
      throw AccountError(error)
    }
  }

  /// What is set about a project's accounts, or about a tenant's.
  ///
  /// - Throws: `AccountError/unknownTenant`
  package func settings(of project: AccountProject) throws -> AccountSettings {
    try read { snapshot in try snapshot.accountSettings(within: project.scope, in: project.namespace) }
  }

  /// An account; nil if there is none.
  package func account(_ uid: String, of project: AccountProject) throws -> AccountRecord? {
    try read { snapshot in try snapshot.account(uid, within: project.scope, in: project.namespace) }
  }

  /// The account that an address, a number or an identity leads to; nil if there is none.
  package func account(_ identifier: AccountIdentifier, of project: AccountProject) throws -> AccountRecord? {
    try read { snapshot in try snapshot.account(identifier, within: project.scope, in: project.namespace) }
  }

  // MARK: Changing

  /// Decides something on the writer, and waits until it is durable.
  ///
  /// - `actor`: who it is recorded for.
  /// - `outbox`: messages that leave with it.
  /// - `suppressingTriggers`: whether functions do not see it.
  /// - `decisions`: what the deployment's functions decided so far; nil where they are not asked.
  func change<Output: Sendable>(
    _ project: AccountProject, by actor: Actor, outbox: [OutboxRecord] = [], suppressingTriggers: Bool = false,
    decisions: SignInDecisions? = nil, body: @escaping @Sendable (AccountTransaction) throws -> Output
  ) async throws -> Output {
    let answer = Answer<Output>()
    let decision = AccountChange(options, clock: clock, scope: project.scope, decisions: decisions) { transaction in
      answer.set(try body(transaction))
    }
    var request = CommitRequest(namespace: project.namespace, actor: actor)
    request.rows.outbox = outbox
    request.triggers.areSuppressed = suppressingTriggers
    request.decision = decision
    do throws(CommitError) {
      _ = try await store.writer.commit(request)
    } catch {
      // What the decision itself threw says more than the writer's refusal.
      throw decision.failure ?? AccountError(error)
    }
    guard let output = answer.value else { throw AccountError.unavailable("The change was not decided; try again.") }
    return output
  }

  /// As above for a player who signs up or in: the deployment's functions are asked before anything is committed.
  ///
  /// The change is decided as far as the first question, the function is asked off the writer, and the change is decided once
  /// more with the answer, on the state that there is then. So nothing of a sign-up that is refused was ever stored, and what
  /// the functions change is part of the one commit.
  func change<Output: Sendable>(
    by actor: Actor, askingFor context: AccountContext, body: @escaping @Sendable (AccountTransaction) throws -> Output
  ) async throws -> Output {
    guard let decider, context.administrator == nil else { return try await change(context.project, by: actor, body: body) }
    let settings = try settings(of: context.project)
    let occasions = decider.occasions(of: settings)
    guard !occasions.isEmpty else { return try await change(context.project, by: actor, body: body) }
    var decisions = SignInDecisions(occasions: occasions)
    for _ in 0..<Self.questionsMax {
      do {
        return try await change(context.project, by: actor, decisions: decisions, body: body)
      } catch let open as SignInDecisions.Open {
        let allowance = try await decider.decide(open.question, settings: settings, context: context)
        decisions.add(allowance, to: open.question)
      }
    }
    throw AccountError.concurrentChange
  }

  /// Questions about one change: two, and as many again where the account changes between them.
  private static let questionsMax = 5

  /// Carries a decision's result from the writer to the task that waits for it.
  private final class Answer<Output: Sendable>: Sendable {
    private let box = Mutex<Output?>(nil)
    func set(_ output: Output) { box.withLock { $0 = output } }
    var value: Output? { box.withLock { $0 } }
  }

  // MARK: Chance

  /// A name that nobody has guessed, for a client that brings none.
  package func newSessionID() -> String { newUID() }

  func newUID() -> String {
    var random = random
    return AccountID.random(using: &random).text
  }

  func newRefreshToken() -> RefreshToken {
    var random = random
    return RefreshToken(using: &random)
  }

  func newAuthenticatorSecret() -> AuthenticatorSecret {
    var random = random
    return AuthenticatorSecret(using: &random)
  }

  func newDigits(_ count: Int) -> String {
    var random = random
    return String((0..<count).map { _ in "0123456789".randomElement(using: &random) ?? "0" })
  }

  // MARK: Passwords

  /// Hashes a new password: counted for the client's network, in which it waits its turn.
  ///
  /// - `account`: whose it becomes, as the client named it: an address or a uid.
  func hash(_ password: String, of account: String, for context: AccountContext) async throws -> String {
    try countPassword(for: context)
    return try await passwords.hash(password, for: .init(network: context.network, account: account))
  }

  /// Checks a password; whatever is known of the account, it counts as much and takes as long.
  func check(_ password: String, against stored: String?, of account: String, for context: AccountContext) async throws
    -> PasswordHasher.Verdict
  {
    try countPassword(for: context)
    return try await passwords.check(
      password, against: stored, for: .init(network: context.network, account: account))
  }

  /// Hashes a password that was just found right once more, at today's cost; nil where no turn is to be had: the next
  /// sign-in tries again.
  func upgraded(_ password: String, of account: String, for context: AccountContext) async -> String? {
    try? await passwords.hash(password, for: .init(network: context.network, account: account))
  }

  private func countPassword(for context: AccountContext) throws {
    guard !options.isDevelopment, context.administrator == nil else { return }
    try throttle.countPassword(from: context.network, at: clock.now())
  }
}

/// One generator for several who draw: each number goes to one of them.
final class SharedRandom: RandomNumberGenerator, Sendable {
  private let generator: Mutex<any RandomNumberGenerator & Sendable>

  init(_ generator: any RandomNumberGenerator & Sendable) {
    self.generator = Mutex(generator)
  }

  func next() -> UInt64 { generator.withLock { $0.next() } }
}
