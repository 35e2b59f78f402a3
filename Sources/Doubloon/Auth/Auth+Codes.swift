import ClientRuntime
import Foundation
import TreeModel

/// Mails with codes.
extension Auth {
  /// Sends a mail by which a forgotten password is replaced.
  public func sendPasswordReset(withEmail email: String, actionCodeSettings: ActionCodeSettings? = nil) async throws {
    try await sendCode("PASSWORD_RESET", about: ["email": .string(email)], settings: actionCodeSettings)
  }

  /// Sends a mail by which a forgotten password is replaced.
  public func sendPasswordReset(
    withEmail email: String, actionCodeSettings: ActionCodeSettings? = nil, completion: (((any Error)?) -> Void)?
  ) {
    runtime.complete(completion) { try await self.sendPasswordReset(withEmail: email, actionCodeSettings: actionCodeSettings) }
  }

  /// Sets a new password by the code of a mail.
  public func confirmPasswordReset(withCode code: String, newPassword: String) async throws {
    _ = try await client.accounts("resetPassword", ["oobCode": .string(code), "newPassword": .string(newPassword)])
  }

  /// Sets a new password by the code of a mail.
  public func confirmPasswordReset(withCode code: String, newPassword: String, completion: (((any Error)?) -> Void)?) {
    runtime.complete(completion) { try await self.confirmPasswordReset(withCode: code, newPassword: newPassword) }
  }

  /// The address whose password the code would replace.
  public func verifyPasswordResetCode(_ code: String) async throws -> String {
    let found = try await checkActionCode(code)
    guard found.operation == .passwordReset, let email = found.email else { throw AuthError(.invalidActionCode) }
    return email
  }

  /// The address whose password the code would replace.
  public func verifyPasswordResetCode(_ code: String, completion: ((String?, (any Error)?) -> Void)?) {
    runtime.complete(completion) { try await self.verifyPasswordResetCode(code) }
  }

  /// What a code of a mail is for; it is not used by this.
  public func checkActionCode(_ code: String) async throws -> ActionCodeInfo {
    let json = try await client.accounts("resetPassword", ["oobCode": .string(code)])
    return ActionCodeInfo(
      operation: ActionCodeOperation(wire: json["requestType"]?.string), email: json["email"]?.string,
      newEmail: json["newEmail"]?.string)
  }

  /// What a code of a mail is for; it is not used by this.
  public func checkActionCode(_ code: String, completion: ((ActionCodeInfo?, (any Error)?) -> Void)?) {
    runtime.complete(completion) { try await self.checkActionCode(code) }
  }

  /// Uses a code that confirms an address, or gives an address back.
  public func applyActionCode(_ code: String) async throws {
    _ = try await client.accounts("update", ["oobCode": .string(code)])
  }

  /// Uses a code that confirms an address, or gives an address back.
  public func applyActionCode(_ code: String, completion: (((any Error)?) -> Void)?) {
    runtime.complete(completion) { try await self.applyActionCode(code) }
  }

  /// Sends a mail with a link that signs in.
  public func sendSignInLink(toEmail email: String, actionCodeSettings: ActionCodeSettings) async throws {
    try await sendCode("EMAIL_SIGNIN", about: ["email": .string(email)], settings: actionCodeSettings)
  }

  /// Sends a mail with a link that signs in.
  public func sendSignInLink(
    toEmail email: String, actionCodeSettings: ActionCodeSettings, completion: (((any Error)?) -> Void)?
  ) {
    runtime.complete(completion) { try await self.sendSignInLink(toEmail: email, actionCodeSettings: actionCodeSettings) }
  }

  /// Whether a URL is the link of a mail that signs in.
  public func isSignIn(withEmailLink link: String) -> Bool { Self.code(in: link) != nil }

  /// The ways in which the owner of an address signs in: `password`, `emailLink`, providers. Empty where the server tells nobody.
  public func fetchSignInMethods(forEmail email: String) async throws -> [String] {
    let body: JSON = ["identifier": .string(email), "continueUri": "http://localhost"]
    return try await client.accounts("createAuthUri", body)["signinMethods"]?.array?.compactMap(\.string) ?? []
  }

  /// The ways in which the owner of an address signs in.
  public func fetchSignInMethods(forEmail email: String, completion: (([String]?, (any Error)?) -> Void)?) {
    runtime.complete(completion) { try await self.fetchSignInMethods(forEmail: email) }
  }

  /// - `fields`: whom the mail is about.
  func sendCode(_ type: String, about fields: JSON, settings: ActionCodeSettings?) async throws {
    _ = try await client.accounts(
      "sendOobCode", Self.request(type, about: fields, settings: settings), email: fields["email"]?.string)
  }

  static func request(_ type: String, about fields: JSON, settings: ActionCodeSettings?) -> JSON {
    var members = (fields.object ?? []) + [JSON.Member(key: "requestType", value: .string(type))]
    if let settings {
      let more: [(String, JSON?)] = [
        ("continueUrl", settings.url.map { .string($0.absoluteString) }),
        ("canHandleCodeInApp", settings.handleCodeInApp ? true : nil),
        ("iOSBundleId", settings.iOSBundleID.map { .string($0) }),
        ("androidPackageName", settings.androidPackageName.map { .string($0) }),
      ]
      members += more.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } }
    }
    return .object(members)
  }
}

/// What ends a listener.
public final class AuthListenerHandle: Sendable {
  let id: Int

  init(_ id: Int) { self.id = id }
}

/// The name in Firebase's SDKs.
public typealias AuthStateDidChangeListenerHandle = AuthListenerHandle
/// The name in Firebase's SDKs.
public typealias IDTokenDidChangeListenerHandle = AuthListenerHandle

/// Who is signed in, as news.
extension Auth {
  /// Calls the closure with who is signed in, now and after every sign-in and sign-out.
  @discardableResult
  public func addStateDidChangeListener(_ listener: @escaping (Auth, User?) -> Void) -> AuthStateDidChangeListenerHandle {
    add(listener, hearsTokens: false)
  }

  /// The same, and after every new token.
  @discardableResult
  public func addIDTokenDidChangeListener(_ listener: @escaping (Auth, User?) -> Void) -> IDTokenDidChangeListenerHandle {
    add(listener, hearsTokens: true)
  }

  /// Ends a listener.
  public func removeStateDidChangeListener(_ handle: AuthStateDidChangeListenerHandle) { removeListener(handle.id) }

  /// Ends a listener.
  public func removeIDTokenDidChangeListener(_ handle: IDTokenDidChangeListenerHandle) { removeListener(handle.id) }

  /// Who is signed in: first the present state, then after every sign-in and sign-out. Never fails; ends with the task.
  public var authStateChanges: AsyncStream<User?> { changes(hearsTokens: false) }

  /// The same, and after every new token.
  public var idTokenChanges: AsyncStream<User?> { changes(hearsTokens: true) }

  private func add(_ listener: @escaping (Auth, User?) -> Void, hearsTokens: Bool) -> AuthListenerHandle {
    let boxed = Boxed(listener)
    let id = listen(hearsTokens: hearsTokens) { [self] user in runtime.callbacks.call { boxed.value(self, user) } }
    return AuthListenerHandle(id)
  }

  private func changes(hearsTokens: Bool) -> AsyncStream<User?> {
    AsyncStream { continuation in
      let id = listen(hearsTokens: hearsTokens) { continuation.yield($0) }
      continuation.onTermination = { [weak self] _ in self?.removeListener(id) }
    }
  }
}
