import ClientRuntime
public import Foundation
import TreeModel

/// What came of ``User/upgrade(with:)``.
public enum UpgradeOutcome: Sendable {
  /// The player has the credential now; the uid, and all that belongs to it, is the same.
  case linked(User)
  /// The credential belongs to another account. The player is still anonymous and can go on; to change over, sign in with
  /// `existing`: that is another uid.
  case taken(existing: AuthCredential, anonymous: User)
}

extension User {
  /// Gives the account a way of signing in. The uid stays, and so does all that belongs to it; when this returns the player is
  /// not anonymous any more, and the database knows.
  ///
  /// - Throws: ``AuthErrorCode/emailAlreadyInUse`` and ``AuthErrorCode/credentialAlreadyInUse`` where another account has it; the
  ///   session goes on as it was.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    try await auth.turns.run {
      guard !self.providerData.contains(where: { $0.providerID == credential.linkedProvider }) else {
        throw AuthError(.providerAlreadyLinked)
      }
      let json = try await self.asking { token in try await self.auth.present(credential, idToken: token) }
      try await self.take(json)
      return AuthDataResult(user: self, isNew: false, provider: credential.provider, credential: credential)
    }
  }

  /// Gives the account a way of signing in.
  public func link(with credential: AuthCredential, completion: Auth.Completion? = nil) {
    auth.runtime.complete(completion) { try await self.link(with: credential) }
  }

  /// Links, and leaves the decision to the player where the credential belongs to another account: nothing is lost until the
  /// app signs in to that one.
  public func upgrade(with credential: AuthCredential) async throws -> UpgradeOutcome {
    do {
      return .linked(try await link(with: credential).user)
    } catch let error as AuthError where [.emailAlreadyInUse, .credentialAlreadyInUse].contains(error.code) {
      return .taken(existing: error.updatedCredential ?? credential, anonymous: self)
    }
  }

  /// Takes a way of signing in away.
  @discardableResult
  public func unlink(fromProvider provider: String) async throws -> User {
    try await auth.turns.run {
      guard self.providerData.contains(where: { $0.providerID == provider }) else { throw AuthError(.noSuchProvider) }
      try await self.change(["deleteProvider": [.string(provider)]])
      return self
    }
  }

  /// Takes a way of signing in away.
  public func unlink(fromProvider provider: String, completion: ((User?, (any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.unlink(fromProvider: provider) }
  }

  /// Signs in once more, for what needs a sign-in a short while ago.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    try await auth.turns.run {
      let json = try await self.auth.present(credential, idToken: nil)
      if json["mfaPendingCredential"]?.string != nil { _ = try self.auth.begin(json) }
      guard json["localId"]?.string == self.uid else { throw AuthError(.userMismatch) }
      try await self.take(json)
      return AuthDataResult(user: self, isNew: false, provider: credential.provider, credential: credential)
    }
  }

  /// Signs in once more, for what needs a sign-in a short while ago.
  public func reauthenticate(with credential: AuthCredential, completion: Auth.Completion? = nil) {
    auth.runtime.complete(completion) { try await self.reauthenticate(with: credential) }
  }

  /// Takes over the tokens of an answer, and what the account is now. A lookup that fails does not undo what happened.
  private func take(_ json: JSON) async throws {
    let tokens = try auth.client.tokens(in: json)
    let account = try? await auth.client.lookup(tokens.id)
    auth.update(self) { record in
      record.tokens = tokens
      record.email = json["email"]?.string ?? record.email
      record.updateAnonymity()
      if let account { record.update(from: account) }
    }
  }

  // MARK: Changes

  /// Sets another password.
  public func updatePassword(to password: String) async throws { try await change(["password": .string(password)]) }

  /// Sets another password.
  public func updatePassword(to password: String, completion: (((any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.updatePassword(to: password) }
  }

  /// Sets another address. A server that tells nobody who has an account wants
  /// ``sendEmailVerification(beforeUpdatingEmail:actionCodeSettings:)`` instead.
  public func updateEmail(to email: String) async throws { try await change(["email": .string(email)]) }

  /// Sets another address.
  public func updateEmail(to email: String, completion: (((any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.updateEmail(to: email) }
  }

  /// Sends a mail by which the address is confirmed.
  public func sendEmailVerification(with settings: ActionCodeSettings? = nil) async throws {
    _ = try await call("sendOobCode", Auth.request("VERIFY_EMAIL", about: [:], settings: settings))
  }

  /// Sends a mail by which the address is confirmed.
  public func sendEmailVerification(with settings: ActionCodeSettings? = nil, completion: (((any Error)?) -> Void)?) {
    auth.runtime.complete(completion) { try await self.sendEmailVerification(with: settings) }
  }

  /// Sends a mail to another address, which becomes the account's when it is confirmed.
  public func sendEmailVerification(
    beforeUpdatingEmail email: String, actionCodeSettings: ActionCodeSettings? = nil
  ) async throws {
    let request = Auth.request("VERIFY_AND_CHANGE_EMAIL", about: ["newEmail": .string(email)], settings: actionCodeSettings)
    _ = try await call("sendOobCode", request)
  }

  /// A draft of what others see of the player.
  public func createProfileChangeRequest() -> UserProfileChangeRequest { UserProfileChangeRequest(self) }
}

/// A draft of what others see of a player; nothing happens before ``commitChanges()``.
public final class UserProfileChangeRequest: Sendable {
  private let user: User
  private let draft: Locked<(displayName: String?, photoURL: URL?)>

  init(_ user: User) {
    self.user = user
    draft = Locked((displayName: user.displayName, photoURL: user.photoURL))
  }

  /// The name that others see; nil takes it away.
  public var displayName: String? {
    get { draft.copy.displayName }
    set { draft.withLock { $0.displayName = newValue } }
  }

  /// A picture; nil takes it away.
  public var photoURL: URL? {
    get { draft.copy.photoURL }
    set { draft.withLock { $0.photoURL = newValue } }
  }

  /// Saves the draft.
  public func commitChanges() async throws {
    let (name, photo) = draft.copy
    let deleted = [(name == nil, "DISPLAY_NAME"), (photo == nil, "PHOTO_URL")].filter(\.0).map { JSON.string($0.1) }
    try await user.change(
      JSON(fields: [
        ("displayName", name.map { .string($0) }), ("photoUrl", photo.map { .string($0.absoluteString) }),
        ("deleteAttribute", deleted.isEmpty ? nil : .array(deleted)),
      ]))
  }

  /// Saves the draft.
  public func commitChanges(completion: (((any Error)?) -> Void)?) {
    user.auth.runtime.complete(completion) { try await self.commitChanges() }
  }
}
