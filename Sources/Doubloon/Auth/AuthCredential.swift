public import Foundation

/// What shows who a player is, before the server has looked at it.
public struct AuthCredential: Sendable, CustomStringConvertible {
  /// How it is shown.
  enum Proof: Sendable {
    case password(email: String, password: String)
    case emailLink(email: String, link: String)
    case identity(idToken: String?, accessToken: String?, nonce: String?, secret: String?)
  }

  /// `password`, `google.com`, `apple.com`, `oidc.…`.
  public let provider: String
  let proof: Proof

  /// The provider alone: what it proves with is a secret.
  public var description: String { "AuthCredential(\(provider))" }

  /// The provider as it is linked: a mailed link makes an account by address, too.
  var linkedProvider: String {
    if case .emailLink = proof { return EmailAuthProvider.id }
    return provider
  }
}

/// Credentials by mail address.
public enum EmailAuthProvider {
  /// `password`.
  public static let id = "password"

  /// An address and its password.
  public static func credential(withEmail email: String, password: String) -> AuthCredential {
    AuthCredential(provider: id, proof: .password(email: email, password: password))
  }

  /// An address, and the link of the mail by which its owner signs in.
  public static func credential(withEmail email: String, link: String) -> AuthCredential {
    AuthCredential(provider: id, proof: .emailLink(email: email, link: link))
  }
}

/// Credentials of OpenID providers, which the server's configuration names.
public enum OAuthProvider {
  /// An ID token of a provider such as `oidc.studio`.
  ///
  /// - `rawNonce`: the text whose SHA-256 the app gave the provider; nil if it gave none.
  public static func credential(
    withProviderID provider: String, idToken: String, rawNonce: String? = nil, accessToken: String? = nil
  ) -> AuthCredential {
    AuthCredential(
      provider: provider, proof: .identity(idToken: idToken, accessToken: accessToken, nonce: rawNonce, secret: nil))
  }

  /// What Sign in with Apple gave.
  public static func appleCredential(
    withIDToken idToken: String, rawNonce: String?, fullName: PersonNameComponents? = nil
  ) -> AuthCredential {
    credential(withProviderID: "apple.com", idToken: idToken, rawNonce: rawNonce)
  }
}

/// Credentials of Google.
public enum GoogleAuthProvider {
  /// `google.com`.
  public static let id = "google.com"

  /// What Google Sign-In gave.
  public static func credential(withIDToken idToken: String, accessToken: String) -> AuthCredential {
    AuthCredential(
      provider: id, proof: .identity(idToken: idToken, accessToken: accessToken, nonce: nil, secret: nil))
  }
}

/// Where a mailed link leads when its code was used, and which app opens it.
public struct ActionCodeSettings: Sendable {
  /// The page or the place in the app that the link leads on to.
  public var url: URL?
  /// Whether the app itself uses the code: needed for signing in by mail.
  public var handleCodeInApp = false
  /// The iOS app that opens the link.
  public var iOSBundleID: String?
  /// The Android app that opens the link.
  public var androidPackageName: String?

  /// Settings that say nothing.
  public init() {}
}

/// What a mailed code is for.
public enum ActionCodeOperation: Sendable, Equatable {
  case passwordReset, verifyEmail, recoverEmail, emailLink, verifyAndChangeEmail, unknown

  init(wire: String?) {
    self =
      switch wire {
      case "PASSWORD_RESET": .passwordReset
      case "VERIFY_EMAIL": .verifyEmail
      case "RECOVER_EMAIL": .recoverEmail
      case "EMAIL_SIGNIN": .emailLink
      case "VERIFY_AND_CHANGE_EMAIL": .verifyAndChangeEmail
      default: .unknown
      }
  }
}

/// What the server says of a mailed code.
public struct ActionCodeInfo: Sendable {
  /// What it is for.
  public let operation: ActionCodeOperation
  /// The account's address.
  public let email: String?
  /// The address that it would get.
  public let newEmail: String?
}
