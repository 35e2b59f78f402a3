import ClientRuntime
import Foundation
import TextFormats
import TreeModel

extension Auth {
  /// What closures get of a sign-in.
  public typealias Completion = (AuthDataResult?, (any Error)?) -> Void

  // MARK: Signing in

  /// Signs a new player in who has shown nothing yet. Who is anonymous already stays the same player; the server is not asked.
  @discardableResult
  public func signInAnonymously() async throws -> AuthDataResult {
    try await turns.run {
      if let user = self.currentUser, user.isAnonymous { return AuthDataResult(user: user, isNew: false, provider: nil) }
      let json = try await self.client.accounts("signUp", ["returnSecureToken": true])
      return AuthDataResult(user: try self.begin(json), isNew: true, provider: nil)
    }
  }

  /// Signs a new player in who has shown nothing yet.
  public func signInAnonymously(completion: Completion? = nil) {
    runtime.complete(completion) { try await self.signInAnonymously() }
  }

  /// Signs in by an address and its password.
  @discardableResult
  public func signIn(withEmail email: String, password: String) async throws -> AuthDataResult {
    try await signIn(with: EmailAuthProvider.credential(withEmail: email, password: password))
  }

  /// Signs in by an address and its password.
  public func signIn(withEmail email: String, password: String, completion: Completion? = nil) {
    runtime.complete(completion) { try await self.signIn(withEmail: email, password: password) }
  }

  /// Signs in by the link of a mail that ``sendSignInLink(toEmail:actionCodeSettings:)`` sent.
  @discardableResult
  public func signIn(withEmail email: String, link: String) async throws -> AuthDataResult {
    try await signIn(with: EmailAuthProvider.credential(withEmail: email, link: link))
  }

  /// Signs in by the link of a mail.
  public func signIn(withEmail email: String, link: String, completion: Completion? = nil) {
    runtime.complete(completion) { try await self.signIn(withEmail: email, link: link) }
  }

  /// Makes an account by address and password, and signs in to it. An anonymous player who wants to keep what they have links
  /// instead: ``User/link(with:)``.
  @discardableResult
  public func createUser(withEmail email: String, password: String) async throws -> AuthDataResult {
    try await turns.run {
      let body: JSON = ["email": .string(email), "password": .string(password), "returnSecureToken": true]
      let json = try await self.client.accounts("signUp", body, email: email)
      let user = try await self.beginLookedUp(json)
      return AuthDataResult(user: user, isNew: true, provider: EmailAuthProvider.id)
    }
  }

  /// Makes an account by address and password, and signs in to it.
  public func createUser(withEmail email: String, password: String, completion: Completion? = nil) {
    runtime.complete(completion) { try await self.createUser(withEmail: email, password: password) }
  }

  /// Signs in by a credential.
  ///
  /// - Throws: ``AuthErrorCode/secondFactorRequired`` with a resolver, where the account has a second factor.
  @discardableResult
  public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
    try await turns.run {
      let json = try await self.present(credential, idToken: nil)
      let user = try await self.beginLookedUp(json)
      let isNew = json["isNewUser"]?.bool ?? false
      return AuthDataResult(user: user, isNew: isNew, provider: credential.provider, credential: credential)
    }
  }

  /// Signs in by a credential.
  public func signIn(with credential: AuthCredential, completion: Completion? = nil) {
    runtime.complete(completion) { try await self.signIn(with: credential) }
  }

  /// Signs in by a token that the game's own server made.
  @discardableResult
  public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
    try await turns.run {
      let body: JSON = ["token": .string(token), "returnSecureToken": true]
      let json = try await self.client.accounts("signInWithCustomToken", body)
      let user = try await self.beginLookedUp(json)
      return AuthDataResult(user: user, isNew: json["isNewUser"]?.bool ?? false, provider: nil)
    }
  }

  /// Signs in by a token that the game's own server made.
  public func signIn(withCustomToken token: String, completion: Completion? = nil) {
    runtime.complete(completion) { try await self.signIn(withCustomToken: token) }
  }

  // MARK: The requests

  /// Shows a credential to the server: signs in, or links where there is an ID token.
  func present(_ credential: AuthCredential, idToken: String?) async throws -> JSON {
    var members: [JSON.Member] = [.init(key: "returnSecureToken", value: true)]
    if let idToken { members.append(.init(key: "idToken", value: .string(idToken))) }
    switch credential.proof {
    case .password(let email, let password):
      members += [.init(key: "email", value: .string(email)), .init(key: "password", value: .string(password))]
      let call = idToken == nil ? "signInWithPassword" : "signUp"
      return try await client.accounts(call, .object(members), email: email)
    case .emailLink(let email, let link):
      guard let code = Self.code(in: link) else { throw AuthError(.invalidActionCode, "That is no link of a sign-in mail.") }
      members += [.init(key: "email", value: .string(email)), .init(key: "oobCode", value: .string(code))]
      return try await client.accounts("signInWithEmailLink", .object(members), email: email)
    case .identity(let token, let access, let nonce, let secret):
      let fields = [
        ("providerId", credential.provider), ("id_token", token), ("access_token", access), ("nonce", nonce),
        ("oauth_token_secret", secret),
      ]
      let post = fields.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
      members += [
        .init(key: "requestUri", value: "http://localhost"), .init(key: "returnIdpCredential", value: true),
        .init(key: "postBody", value: .string(post.joined(separator: "&"))),
      ]
      return try Self.checked(try await client.accounts("signInWithIdp", .object(members)), of: credential)
    }
  }

  /// Refusals that come with status 200, so that the credential comes with them.
  private static func checked(_ json: JSON, of credential: AuthCredential) throws -> JSON {
    let email = json["email"]?.string
    if json["needConfirmation"]?.bool == true {
      throw AuthError(.accountExistsWithDifferentCredential, email: email, updatedCredential: credential)
    }
    guard let message = json["errorMessage"]?.string else { return json }
    throw AuthError(AuthError(wire: message, email: email), credential: credential)
  }

  /// A session from the answer to a sign-in.
  func begin(_ json: JSON, account: JSON? = nil) throws -> User {
    if let pending = json["mfaPendingCredential"]?.string {
      throw AuthError(.secondFactorRequired, resolver: MultiFactorResolver(auth: self, pending: pending, json: json))
    }
    let tokens = try client.tokens(in: json)
    guard let uid = json["localId"]?.string ?? account?["localId"]?.string ?? tokens.claims["sub"]?.string else {
      throw AuthError(.internalError, "The answer of the server names no account; is that a Doubloon server?")
    }
    var record = AccountRecord(uid: uid, tokens: tokens)
    record.createdAt = Date(timeIntervalSince1970: Double(runtime.clock.milliseconds) / 1000)
    record.lastSignInAt = record.createdAt
    if let account {
      record.update(from: account)
    } else {
      (record.email, record.displayName) = (json["email"]?.string, json["displayName"]?.string)
      record.updateAnonymity()
    }
    return install(record)
  }

  /// The same with what a lookup says. The sign-in has happened when the lookup fails for want of a connection.
  func beginLookedUp(_ json: JSON) async throws -> User {
    guard let token = json["idToken"]?.string else { return try begin(json) }
    do {
      return try begin(json, account: try await client.lookup(token))
    } catch let error as AuthError where error.code == .networkError {
      return try begin(json)
    }
  }

  /// The code in a link of a mail; it may be in a link within the link.
  static func code(in link: String) -> String? {
    guard let items = URLComponents(string: link)?.queryItems else { return nil }
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
    if value("mode") == "signIn", let code = value("oobCode") { return code }
    return (value("link") ?? value("deep_link_id")).flatMap { $0 == link ? nil : code(in: $0) }
  }
}

extension AuthError {
  /// The error with the credential by which the player can sign in instead.
  fileprivate init(_ error: AuthError, credential: AuthCredential) {
    self.init(error.code, error.message, email: error.email, updatedCredential: credential)
  }
}
