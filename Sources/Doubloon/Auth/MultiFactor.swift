import ClientRuntime
import Foundation
import TextFormats
import TreeModel

/// A second factor of an account, as it is shown to its player.
public struct MultiFactorInfo: Sendable, Equatable {
  /// Its id at the server.
  public let uid: String
  /// `totp` or `phone`.
  public let factorID: String
  /// What the player called it.
  public let displayName: String?

  init?(_ json: JSON) {
    guard let id = json["mfaEnrollmentId"]?.string else { return nil }
    uid = id
    factorID = json["totpInfo"] != nil ? TOTPMultiFactorGenerator.factorID : "phone"
    displayName = json["displayName"]?.string
  }
}

/// Completes a sign-in that needs a second factor: it is in the error of ``AuthErrorCode/secondFactorRequired``.
public final class MultiFactorResolver: Sendable {
  /// The factors of the account, of which one is enough.
  public let hints: [MultiFactorInfo]
  /// Whose sign-in it is.
  public let auth: Auth
  private let pending: String

  init(auth: Auth, pending: String, json: JSON) {
    self.auth = auth
    self.pending = pending
    hints = (json["mfaInfo"]?.array ?? []).compactMap(MultiFactorInfo.init)
  }

  /// Signs in with a code of the player's authenticator.
  @discardableResult
  public func resolveSignIn(with assertion: MultiFactorAssertion) async throws -> AuthDataResult {
    guard let id = assertion.enrollmentID else {
      throw AuthError(.missingMultiFactorInfo, "Make the assertion with assertionForSignIn(withEnrollmentID:oneTimePassword:).")
    }
    return try await auth.turns.run { [self] in
      let body: JSON = [
        "mfaPendingCredential": .string(pending), "mfaEnrollmentId": .string(id),
        "totpVerificationInfo": ["verificationCode": .string(assertion.code)],
      ]
      let json = try await auth.client.accounts("mfaSignIn:finalize", body, version: "v2")
      return AuthDataResult(user: try await auth.beginLookedUp(json), isNew: false, provider: nil)
    }
  }

  /// Signs in with a code of the player's authenticator.
  public func resolveSignIn(with assertion: MultiFactorAssertion, completion: Auth.Completion?) {
    auth.runtime.complete(completion) { try await self.resolveSignIn(with: assertion) }
  }
}

/// A code of an authenticator, and for which factor it is.
public struct MultiFactorAssertion: Sendable {
  let enrollmentID: String?
  let secret: TOTPSecret?
  let code: String
}

/// Codes of an authenticator: RFC 6238, six digits every 30 seconds.
public enum TOTPMultiFactorGenerator {
  /// `totp`.
  public static let factorID = "totp"

  /// Asks for the secret of a new factor, which the player's authenticator takes over.
  public static func generateSecret(with session: MultiFactorSession) async throws -> TOTPSecret {
    let json = try await session.user.call("mfaEnrollment:start", version: "v2", ["totpEnrollmentInfo": [:]])
    guard let info = json["totpSessionInfo"], let key = info["sharedSecretKey"]?.string,
      let text = info["sessionInfo"]?.string
    else { throw AuthError(.internalError, "The server gave no secret for an authenticator; it may be an older one.") }
    return TOTPSecret(sharedSecretKey: key, sessionText: text)
  }

  /// The first code of a new factor: shows that the authenticator has the secret.
  public static func assertionForEnrollment(with secret: TOTPSecret, oneTimePassword: String) -> MultiFactorAssertion {
    MultiFactorAssertion(enrollmentID: nil, secret: secret, code: oneTimePassword)
  }

  /// A code at a sign-in.
  ///
  /// - `id`: the ``MultiFactorInfo/uid`` of the factor.
  public static func assertionForSignIn(withEnrollmentID id: String, oneTimePassword: String) -> MultiFactorAssertion {
    MultiFactorAssertion(enrollmentID: id, secret: nil, code: oneTimePassword)
  }
}

/// A secret that a new authenticator takes over.
public struct TOTPSecret: Sendable {
  /// In base 32, to be typed.
  public let sharedSecretKey: String
  let sessionText: String

  /// The same as a URL for a QR code.
  public func generateQRCodeURL(withAccountName account: String, issuer: String) -> String {
    let (account, issuer) = (PercentEncoding.encode(account), PercentEncoding.encode(issuer))
    return "otpauth://totp/\(issuer):\(account)?secret=\(sharedSecretKey)&issuer=\(issuer)&algorithm=SHA1&digits=6&period=30"
  }
}

/// A player's permission to change their factors.
public struct MultiFactorSession: Sendable {
  let user: User
}

/// The second factors of a player.
public struct MultiFactor: Sendable {
  let user: User

  /// Asked before a factor is enrolled.
  public func getSession() async throws -> MultiFactorSession { MultiFactorSession(user: user) }

  /// The factors, as the server has them now.
  public func enrolledFactors() async throws -> [MultiFactorInfo] {
    let json = try await user.call("lookup")
    return (json["users"]?.array?.first?["mfaInfo"]?.array ?? []).compactMap(MultiFactorInfo.init)
  }

  /// Enrols a factor. From then on a sign-in needs it.
  public func enroll(with assertion: MultiFactorAssertion, displayName: String?) async throws {
    guard let secret = assertion.secret else {
      throw AuthError(.missingMultiFactorInfo, "Make the assertion with assertionForEnrollment(with:oneTimePassword:).")
    }
    var body: [JSON.Member] = [
      .init(
        key: "totpVerificationInfo",
        value: ["sessionInfo": .string(secret.sessionText), "verificationCode": .string(assertion.code)])
    ]
    if let displayName { body.append(.init(key: "displayName", value: .string(displayName))) }
    try await take(try await user.call("mfaEnrollment:finalize", version: "v2", .object(body)))
  }

  /// Takes a factor away.
  public func unenroll(withFactorUID id: String) async throws {
    try await take(try await user.call("mfaEnrollment:withdraw", version: "v2", ["mfaEnrollmentId": .string(id)]))
  }

  private func take(_ json: JSON) async throws {
    if json["idToken"]?.string != nil {
      let tokens = try user.auth.client.tokens(in: json)
      user.auth.update(user) { $0.tokens = tokens }
    }
    try await user.reload()
  }
}
