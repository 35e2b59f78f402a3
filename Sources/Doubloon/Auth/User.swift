import ClientRuntime
public import Foundation
import TreeModel

/// A player who is signed in. A live object: its members are what is known now.
public final class User: Sendable, CustomStringConvertible {
  /// A token that has less than this left is not given out, in milliseconds.
  static let margin: Int64 = 5 * 60_000

  /// The account's id, for ever.
  public let uid: String
  let record: Locked<AccountRecord>
  let auth: Auth
  private let refresh = Locked<Task<Tokens, any Error>?>(nil)

  init(_ record: AccountRecord, auth: Auth) {
    uid = record.uid
    self.record = Locked(record)
    self.auth = auth
  }

  /// The name that others see.
  public var displayName: String? { record.copy.displayName }
  /// The mail address.
  public var email: String? { record.copy.email }
  /// A picture.
  public var photoURL: URL? { record.copy.photoURL.flatMap { URL(string: $0) } }
  /// The telephone number.
  public var phoneNumber: String? { record.copy.phoneNumber }
  /// Whether the player has nothing yet by which to sign in again.
  public var isAnonymous: Bool { record.copy.isAnonymous }
  /// Whether the address was confirmed.
  public var isEmailVerified: Bool { record.copy.isEmailVerified }
  /// The ways in which the player can sign in.
  public var providerData: [UserInfo] { record.copy.providers }
  /// Always `Firebase`, as in its SDKs.
  public var providerID: String { "Firebase" }
  /// Nil: a server has one tenant.
  public var tenantID: String? { record.copy.tenantID }
  /// By this the app gets ID tokens. A secret.
  public var refreshToken: String? { record.copy.tokens.refresh }
  /// When the account was made and used.
  public var metadata: UserMetadata {
    let record = record.copy
    return UserMetadata(creationDate: record.createdAt, lastSignInDate: record.lastSignInAt)
  }
  /// Second factors.
  public var multiFactor: MultiFactor { MultiFactor(user: self) }
  /// The id alone.
  public var description: String { "User(\(uid))" }

  // MARK: Tokens

  /// A token that shows who the player is; good for at least five minutes.
  public func getIDToken(forcingRefresh: Bool = false) async throws -> String {
    try await tokens(forcingRefresh: forcingRefresh).id
  }

  /// A token that shows who the player is; good for at least five minutes.
  public func getIDTokenForcingRefresh(_ force: Bool, completion: ((String?, (any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.getIDToken(forcingRefresh: force) }
  }

  /// A token, and what it says.
  public func getIDTokenResult(forcingRefresh: Bool = false) async throws -> AuthTokenResult {
    AuthTokenResult(try await tokens(forcingRefresh: forcingRefresh))
  }

  /// A token, and what it says.
  public func getIDTokenResult(forcingRefresh: Bool = false, completion: ((AuthTokenResult?, (any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.getIDTokenResult(forcingRefresh: forcingRefresh) }
  }

  /// However many ask at once, the server is asked once.
  func tokens(forcingRefresh: Bool) async throws -> Tokens {
    let now = auth.runtime.clock.milliseconds
    let task: Task<Tokens, any Error> = refresh.withLock { refresh in
      if let running = refresh { return running }
      let tokens = record.copy.tokens
      if !forcingRefresh, tokens.endsAt - now > Self.margin { return Task { tokens } }
      let task = Task { try await self.refreshed(tokens) }
      refresh = task
      return task
    }
    let tokens = try await task.value
    try Task.checkCancellation()
    return tokens
  }

  private func refreshed(_ tokens: Tokens) async throws -> Tokens {
    defer { refresh.withLock { $0 = nil } }
    do {
      let new = try await auth.client.refresh(tokens.refresh)
      // A link may have brought newer tokens meanwhile.
      guard record.copy.tokens == tokens else { return record.copy.tokens }
      auth.update(self) { record in
        record.tokens = new
        record.updateAnonymity()
      }
      return new
    } catch {
      auth.endSession(of: self, after: error)
      throw error
    }
  }

  /// A call as this player.
  func call(_ name: String, version: String = "v1", _ body: JSON = [:]) async throws -> JSON {
    try await asking { token in
      let members = (body.object ?? []) + [JSON.Member(key: "idToken", value: .string(token))]
      return try await auth.client.accounts(name, .object(members), version: version, email: body["email"]?.string)
    }
  }

  /// Asks with the player's token. One that the server takes for ended, because of a wrong clock or a moved key, is replaced
  /// once.
  func asking(_ ask: (String) async throws -> JSON) async throws -> JSON {
    var isFresh = false
    do {
      do {
        return try await ask(try await tokens(forcingRefresh: false).id)
      } catch let error as AuthError where [.userTokenExpired, .invalidUserToken].contains(error.code) {
        let token = try await tokens(forcingRefresh: true).id
        isFresh = true
        return try await ask(token)
      }
    } catch {
      auth.endSession(of: self, after: error, isFresh: isFresh)
      throw error
    }
  }

  // MARK: The account

  /// Asks the server what it knows of the account.
  public func reload() async throws {
    let json = try await call("lookup")
    guard let users = json["users"]?.array, users.count == 1 else { throw AuthError(.userNotFound) }
    auth.update(self) { $0.update(from: users[0]) }
  }

  /// Asks the server what it knows of the account.
  public func reload(completion: (((any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.reload() }
  }

  /// Deletes the account, for ever; the player is signed out.
  public func delete() async throws {
    _ = try await call("delete")
    if auth.currentUser === self { auth.replace(with: nil) }
  }

  /// Deletes the account, for ever; the player is signed out.
  public func delete(completion: (((any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.delete() }
  }

  /// Changes of the account: tokens in the answer are taken over, then the account is looked up.
  func change(_ body: JSON) async throws {
    let json = try await call("update", body)
    if json["idToken"]?.string != nil {
      let tokens = try auth.client.tokens(in: json)
      auth.update(self) { $0.tokens = tokens }
    }
    try await reload()
  }
}
