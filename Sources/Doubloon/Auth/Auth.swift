import ClientRuntime
import Foundation
import TreeModel

/// The players' accounts: anonymous first, with an address or a provider later.
///
/// The player who was signed in when the app ended is signed in when ``DoubloonApp/configure()`` returns.
public final class Auth: Sendable {
  /// What changes.
  struct State: Sendable {
    var user: User?
    var listeners: [Int: Listener] = [:]
    var nextListener = 0
    var refreshTimer: (any ClientTimer)?
    var isUsedBySocket = false
    var backoff = Backoff.refreshing
  }

  /// Somebody who wants to know who is signed in.
  struct Listener: Sendable {
    /// Whether a new token alone is news.
    let hearsTokens: Bool
    let call: @Sendable (User?) -> Void
  }

  let runtime: AppRuntime
  let client: IdentityClient
  let state = Locked(State())
  /// Sign-ins happen one after the other.
  let turns = SerialTasks()
  private let storage: any SessionStorage

  init(_ runtime: AppRuntime, name: String) {
    self.runtime = runtime
    client = IdentityClient(
      service: ServiceClient(runtime: runtime, override: Locked(nil)), language: Locked(nil), tenant: Locked(nil))
    storage = runtime.sessions(of: name)
    guard let bytes = storage.read() else { return }
    guard let record = try? JSONDecoder().decode(AccountRecord.self, from: Data(bytes)),
      record.version == AccountRecord.version, !record.uid.isEmpty
    else {
      runtime.log(.warning, "The saved session cannot be read; the player is signed out.")
      return
    }
    let user = User(record, auth: self)
    state.withLock { $0.user = user }
  }

  /// The accounts of the default app. Before it is configured every call fails with ``AuthErrorCode/notConfigured``.
  public static func auth() -> Auth { DoubloonApp.current.authentication }

  /// The accounts of an app.
  public static func auth(app: DoubloonApp) -> Auth { app.authentication }

  /// Who is signed in; one object for one session.
  public var currentUser: User? { state.withLock { $0.user } }

  /// The language of mails, such as `pl`; nil leaves it to the server.
  public var languageCode: String? {
    get { client.language.copy }
    set { client.language.withLock { $0 = newValue } }
  }

  /// The tenant whose players sign in from now on, where the server keeps players of several brands apart; nil for those of none.
  /// Who is signed in stays what they are.
  public var tenantID: String? {
    get { client.tenant.copy }
    set { client.tenant.withLock { $0 = newValue } }
  }

  /// Mails come in the device's language.
  public func useAppLanguage() { languageCode = Locale.preferredLanguages.first ?? Locale.current.identifier }

  /// Asks another server about accounts, without TLS; for development.
  public func useEmulator(withHost host: String, port: Int) {
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    guard let server = ServiceAddress("http://\(name):\(port)") else {
      return runtime.log(.error, "\(host):\(port) is no address; useEmulator is ignored.")
    }
    client.service.override.withLock { $0 = server }
  }

  /// Forgets who is signed in, here and on disk.
  public func signOut() throws {
    replace(with: nil)
  }

  /// Makes a user of another ``Auth`` the current one of this.
  public func updateCurrentUser(_ user: User, completion: (((any Error)?) -> Void)? = nil) {
    runtime.complete(completion) { try await self.updateCurrentUser(user) }
  }

  /// Makes a user of another ``Auth`` the current one of this.
  public func updateCurrentUser(_ user: User) async throws {
    let record = user.record.copy
    _ = try await turns.run { self.install(record) }
  }

  // MARK: Who is signed in

  /// Takes over a session: the same object for the same player.
  @discardableResult
  func install(_ record: AccountRecord) -> User {
    let (user, isSame) = state.withLock { state in
      if let user = state.user, user.uid == record.uid {
        user.record.withLock { $0 = record }
        return (user, true)
      }
      let user = User(record, auth: self)
      state.user = user
      return (user, false)
    }
    save(record)
    notify(tokenOnly: isSame)
    scheduleRefresh()
    return user
  }

  /// Signs out, or leaves out a session that is over.
  func replace(with user: User?) {
    let changed = state.withLock { state in
      defer { state.user = user }
      state.refreshTimer?.cancel()
      state.refreshTimer = nil
      return state.user !== user
    }
    save(user?.record.copy)
    if changed { notify(tokenOnly: false) }
  }

  /// Ends the session if the error says that it is over, and if it is still the session of that player.
  ///
  /// - `isFresh`: whether the server gave out the token a moment before: if it does not know that one, it does not know the player.
  func endSession(of user: User, after error: any Error, isFresh: Bool = false) {
    guard let error = error as? AuthError, error.endsSession || (isFresh && error.code == .invalidUserToken),
      currentUser === user
    else { return }
    runtime.log(.notice, "The session is over: \(error)")
    replace(with: nil)
  }

  /// Notes what changed of the current player.
  func update(_ user: User, _ change: (inout AccountRecord) -> Void) {
    let (before, after) = user.record.withLock { record in
      let before = record
      change(&record)
      return (before, record)
    }
    guard currentUser === user, before != after else { return }
    save(after)
    if before.tokens.id != after.tokens.id {
      notify(tokenOnly: true)
      scheduleRefresh()
    }
  }

  private func save(_ record: AccountRecord?) {
    do {
      let encoder = JSONEncoder()
      try storage.write(try record.map { Array(try encoder.encode($0)) })
    } catch {
      runtime.log(.error, "The session cannot be kept, and is lost when the app ends: \(error.localizedDescription)")
    }
  }

  private func notify(tokenOnly: Bool) {
    let (user, listeners) = state.withLock { state in
      (state.user, state.listeners.sorted { $0.key < $1.key }.map(\.value))
    }
    for listener in listeners where listener.hearsTokens || !tokenOnly { listener.call(user) }
  }

  func listen(hearsTokens: Bool, _ call: @escaping @Sendable (User?) -> Void) -> Int {
    let (handle, user) = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = Listener(hearsTokens: hearsTokens, call: call)
      return (state.nextListener, state.user)
    }
    call(user)
    return handle
  }

  func removeListener(_ handle: Int) { state.withLock { $0.listeners[handle] = nil } }

  func shutDown() {
    state.withLock { state in
      state.refreshTimer?.cancel()
      (state.refreshTimer, state.listeners, state.isUsedBySocket) = (nil, [:], false)
    }
  }

  // MARK: The database's token

  /// Tells who is signed in and by which token, now and whenever either changes; from then on tokens are refreshed before
  /// they end.
  func observeSocketToken(_ call: @escaping @Sendable (_ token: String?, _ uid: String?) -> Void) -> Int {
    state.withLock { $0.isUsedBySocket = true }
    let handle = listen(hearsTokens: true) { user in call(user?.record.copy.tokens.id, user?.uid) }
    scheduleRefresh()
    return handle
  }

  /// The token for the database; nil when nobody is signed in.
  func tokenForSocket(forcingRefresh: Bool) async throws -> String? {
    try await currentUser?.getIDToken(forcingRefresh: forcingRefresh)
  }

  /// Five minutes before the token ends, or after a failure when its time has come.
  private func scheduleRefresh(after delay: Int64? = nil) {
    guard let user = currentUser, state.withLock({ $0.isUsedBySocket }) else { return }
    let left = user.record.copy.tokens.endsAt - runtime.clock.milliseconds - User.margin
    let timer = runtime.clock.schedule(after: delay ?? max(left, 0)) { [weak self, weak user] in
      guard let self, let user, self.currentUser === user else { return }
      Task { await self.refreshByTimer(user) }
    }
    state.withLock { state in
      state.refreshTimer?.cancel()
      state.refreshTimer = timer
    }
  }

  private func refreshByTimer(_ user: User) async {
    do {
      _ = try await user.getIDToken(forcingRefresh: false)
      state.withLock { $0.backoff.reset() }
    } catch {
      var generator = SystemRandomNumberGenerator()
      let delay = state.withLock { $0.backoff.delay(using: &generator) }
      scheduleRefresh(after: delay)
    }
  }
}
