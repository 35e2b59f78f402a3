public import Foundation
import TreeModel

/// What is known of an account, and kept on disk with its tokens.
struct AccountRecord: Sendable, Codable, Equatable {
  /// The players' files change their form with this number.
  static let version = 1

  var version = Self.version
  var uid: String
  var tokens: Tokens
  var isAnonymous = false
  var email: String?
  var isEmailVerified = false
  var displayName: String?
  var photoURL: String?
  var phoneNumber: String?
  var providers: [UserInfo] = []
  var createdAt: Date?
  var lastSignInAt: Date?
  var tenantID: String?

  init(uid: String, tokens: Tokens) {
    self.uid = uid
    self.tokens = tokens
  }

  /// Takes over what a lookup says.
  mutating func update(from json: JSON) {
    email = json["email"]?.string
    isEmailVerified = json["emailVerified"]?.bool ?? false
    displayName = json["displayName"]?.string
    photoURL = json["photoUrl"]?.string
    phoneNumber = json["phoneNumber"]?.string
    providers = (json["providerUserInfo"]?.array ?? []).compactMap(UserInfo.init)
    createdAt = json["createdAt"]?.date ?? createdAt
    lastSignInAt = json["lastLoginAt"]?.date ?? lastSignInAt
    tenantID = json["tenantId"]?.string
    updateAnonymity()
  }

  /// Anonymous is who signed in without anything, and has linked nothing since.
  mutating func updateAnonymity() {
    isAnonymous = tokens.claims["firebase"]?["sign_in_provider"]?.string == "anonymous" && providers.isEmpty
  }
}

/// One way of signing in that an account has.
public struct UserInfo: Sendable, Codable, Equatable {
  /// `password`, `google.com`, `oidc.…`.
  public let providerID: String
  /// The player's id there; the address for `password`.
  public let uid: String
  /// As the provider gave it.
  public let email: String?
  /// As the provider gave it.
  public let displayName: String?
  /// As the provider gave it.
  public let photoURL: URL?
  /// As the provider gave it.
  public let phoneNumber: String?

  init?(_ json: JSON) {
    guard let id = json["providerId"]?.string else { return nil }
    providerID = id
    uid = json["rawId"]?.string ?? json["federatedId"]?.string ?? ""
    email = json["email"]?.string
    displayName = json["displayName"]?.string
    photoURL = json["photoUrl"]?.string.flatMap { URL(string: $0) }
    phoneNumber = json["phoneNumber"]?.string
  }
}

/// When an account was made, and when its player last signed in.
public struct UserMetadata: Sendable, Equatable {
  /// When it was made.
  public let creationDate: Date?
  /// When its player last signed in.
  public let lastSignInDate: Date?
}

/// What a sign-in gave. Members of ``user`` can be read of it, too.
@dynamicMemberLookup
public final class AuthDataResult: Sendable {
  /// Who is signed in.
  public let user: User
  /// What the server said beside it.
  public let additionalUserInfo: AdditionalUserInfo?
  /// By this the player can sign in once more; nil where there is none.
  public let credential: AuthCredential?

  init(user: User, isNew: Bool, provider: String?, credential: AuthCredential? = nil) {
    self.user = user
    additionalUserInfo = AdditionalUserInfo(isNewUser: isNew, providerID: provider)
    self.credential = credential
  }

  /// A member of the user.
  public subscript<Value>(dynamicMember path: KeyPath<User, Value>) -> Value { user[keyPath: path] }
}

/// What a server says of a sign-in beside the user.
public struct AdditionalUserInfo: Sendable {
  /// Whether the account was made by this sign-in.
  public let isNewUser: Bool
  /// By which provider; nil for an anonymous player.
  public let providerID: String?
}

/// An ID token, and what it says.
public struct AuthTokenResult: Sendable {
  /// For `Authorization: Bearer …` to a server of the game.
  public let token: String
  private let json: JSON

  init(_ tokens: Tokens) {
    token = tokens.id
    json = tokens.claims
  }

  /// When it ends.
  public var expirationDate: Date { date("exp") }
  /// When the player signed in.
  public var authDate: Date { date("auth_time") }
  /// When the server made it.
  public var issuedAtDate: Date { date("iat") }
  /// `anonymous`, `password`, …
  public var signInProvider: String { json["firebase"]?["sign_in_provider"]?.string ?? "" }
  /// `totp`, or empty.
  public var signInSecondFactor: String { json["firebase"]?["sign_in_second_factor"]?.string ?? "" }
  /// All of it. The app cannot check the signature: for showing, not for deciding.
  public var claims: [String: Any] {
    let data = Data(json.compactText.utf8)
    return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
  }

  private func date(_ claim: String) -> Date { Date(timeIntervalSince1970: Double(json[claim]?.int ?? 0)) }
}
