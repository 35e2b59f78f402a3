package import Credentials
package import StorageCore
import Synchronization
import TreeModel

/// The accounts of all projects: every call of the Identity Toolkit, and what administrators do.
///
/// A call reads a snapshot to learn what it needs (a hash to check, a code to mail), does what is slow on other threads, and
/// then decides on the writer (``AccountChange``), on the state that it changes. See <doc:Accounts>.
package final class AccountService: Sendable {
  /// The store, for looking.
  package let engine: any StorageEngine
  /// The source of time.
  package let clock: any WallClock
  /// How accounts are kept.
  package let options: AccountOptions
  /// Who issues and verifies ID tokens.
  package let issuer: IDTokenIssuer
  /// Which tokens are void; also to be given to the database as an observer.
  package let watch: AccountWatch
  let writer: any TreeWriter
  let passwords: PasswordHashingService
  let throttle: Throttle
  let sentCodes = SentCodeStore()
  let secondFactors = PendingFactorStore()
  /// How far the clean-up came, in each namespace.
  let sweepMarks = Mutex<[NamespaceID: SweepMark]>([:])
  let identities: any IdentityProving
  let mail: (any CodeMailing)?
  private let announce: @Sendable (String) -> Void
  private let random: Mutex<any RandomNumberGenerator & Sendable>

  /// - `hasher`: what hashing passwords costs.
  /// - `hashing`: the threads for it.
  /// - `mail`: how codes are mailed; nil where they are only announced, in development.
  /// - `announce`: told the links that development prints instead of mailing.
  package init(
    engine: any StorageEngine, writer: any TreeWriter, watch: AccountWatch, clock: any WallClock, issuer: IDTokenIssuer,
    hasher: PasswordHasher = PasswordHasher(), hashing: OffLoopWork, options: AccountOptions = AccountOptions(),
    identities: any IdentityProving = NoIdentities(), mail: (any CodeMailing)? = nil,
    random: any RandomNumberGenerator & Sendable, announce: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.engine = engine
    self.writer = writer
    self.watch = watch
    self.clock = clock
    self.issuer = issuer
    self.options = options
    self.identities = identities
    self.mail = mail
    self.announce = announce
    let shared = SharedRandom(random)
    self.random = Mutex(shared)
    passwords = PasswordHashingService(hasher: hasher, threads: hashing, options: options, random: { shared })
    throttle = Throttle(options: options)
  }

  // MARK: Looking

  func look<Value>(_ body: (any Snapshot) throws(StorageError) -> Value) throws(AccountError) -> Value {
    do throws(StorageError) {
      return try engine.read(body)
    } catch {
      throw AccountError(error)
    }
  }

  /// What is set about a project's accounts.
  package func settings(of project: AccountProject) throws(AccountError) -> AccountSettings {
    let row = try look { (snapshot) throws(StorageError) in try snapshot.accountRow(in: project.namespace, .settings) }
    guard case .settings(let json)? = row else { return AccountSettings() }
    return AccountSettings(json)
  }

  /// An account; nil if there is none.
  package func account(_ uid: String, of project: AccountProject) throws(AccountError) -> AccountRecord? {
    try look { (snapshot) throws(StorageError) in try snapshot.account(in: project.namespace, uid: uid) }
  }

  func account(_ identifier: AccountIdentifier, of project: AccountProject) throws(AccountError) -> AccountRecord? {
    try look { (snapshot) throws(StorageError) in try snapshot.account(in: project.namespace, identifier) }
  }

  // MARK: Changing

  /// Decides something on the writer, and waits until it is durable.
  ///
  /// - `actor`: who it is recorded for.
  /// - `outbox`: messages that leave with it.
  /// - `operations`: what changes in the tree in the same commit.
  func change<Output: Sendable>(
    _ project: AccountProject, by actor: Actor, outbox: [OutboxRecord] = [], operations: [WriteOperation] = [],
    suppressingTriggers: Bool = false, audit: AuditRecord? = nil,
    _ body: @escaping @Sendable (AccountTransaction) throws(AccountError) -> Output
  ) async throws(AccountError) -> Output {
    let answer = Answer<Output>()
    var request = CommitRequest(namespace: project.namespace, actor: actor, operations: operations)
    request.rows.outbox = outbox
    request.triggers.areSuppressed = suppressingTriggers
    request.log.audit = audit
    request.decision = AccountChange(options, clock: clock) { (bench) throws(AccountError) in
      answer.set(try body(bench))
    }
    do throws(CommitError) {
      _ = try await writer.commit(request)
    } catch {
      throw AccountError(error)
    }
    guard let output = answer.value else { throw .unavailable("The change was not decided; try again.") }
    return output
  }

  /// Carries a decision's result from the writer to who waits for it.
  private final class Answer<Output: Sendable>: Sendable {
    private let box = Mutex<Output?>(nil)
    func set(_ output: Output) { box.withLock { $0 = output } }
    var value: Output? { box.withLock { $0 } }
  }

  // MARK: Chance

  func newUID() -> String { random.withLock { Self.uid(&$0) } }
  func newRefreshToken() -> RefreshToken { random.withLock { Self.token(&$0) } }
  func newAuthenticatorSecret() -> AuthenticatorSecret { random.withLock { Self.secret(&$0) } }
  func newDigits(_ count: Int) -> String {
    random.withLock { random in String((0..<count).map { _ in "0123456789".randomElement(using: &random) ?? "0" }) }
  }

  private static func uid(_ random: inout any RandomNumberGenerator & Sendable) -> String { UserID.random(using: &random).text }
  private static func token(_ random: inout any RandomNumberGenerator & Sendable) -> RefreshToken {
    RefreshToken(using: &random)
  }

  private static func secret(_ random: inout any RandomNumberGenerator & Sendable) -> AuthenticatorSecret {
    AuthenticatorSecret(using: &random)
  }

  func note(_ text: String) { announce(text) }
}

/// One generator for several who draw: each number goes to one of them.
final class SharedRandom: RandomNumberGenerator, Sendable {
  private let generator: Mutex<any RandomNumberGenerator & Sendable>

  init(_ generator: any RandomNumberGenerator & Sendable) {
    self.generator = Mutex(generator)
  }

  func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// Everything that hashes goes through here: it is counted for the client's network, and waits its turn there.
extension AccountService {
  /// Hashes a new password.
  ///
  /// - `account`: whose it becomes, as the client named it: an address or a uid.
  func hash(_ password: String, of account: String, _ call: IdentityCall) async throws(AccountError) -> String {
    try countPassword(call)
    return try await passwords.hash(password, for: PasswordHashingService.Client(network: call.address, account: account))
  }

  /// Checks a password; whatever is known of the account, it counts as much and takes as long.
  func check(_ password: String, against stored: String?, of account: String, _ call: IdentityCall)
    async throws(AccountError) -> PasswordHasher.Verdict
  {
    try countPassword(call)
    return try await passwords.check(
      password, against: stored, for: PasswordHashingService.Client(network: call.address, account: account))
  }

  /// Hashes the password that was just found right once more, at today's cost; nil where no turn is to be had: the next
  /// sign-in tries again.
  func upgraded(_ password: String, of account: String, _ call: IdentityCall) async -> String? {
    try? await passwords.hash(password, for: PasswordHashingService.Client(network: call.address, account: account))
  }

  private func countPassword(_ call: IdentityCall) throws(AccountError) {
    guard !options.isDevelopment, !call.isPrivileged else { return }
    try throttle.countPassword(from: call.address, at: clock.now())
  }
}
