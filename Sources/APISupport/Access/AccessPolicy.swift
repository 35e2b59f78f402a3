package import HTTPServer
import StorageCore
import TextFormats
import TreeModel

/// Access without accounts and rules: admin tokens, and a tree that is open (development) or closed (production).
///
/// With rules it is `RuleBasedAccess`, which asks this one where a namespace has none.
package struct AccessPolicy: Authenticating {
  /// The two ways to run the server.
  package enum Mode: Sendable, Hashable {
    /// Unsigned tokens name a user, namespaces appear on first use, and without rules everybody may read and write.
    case development
    /// Everything is refused that is not an admin's.
    case production
  }

  /// Development or production.
  package let mode: Mode
  private let adminTokens: [AdminToken]
  private let serviceAccounts: ServiceAccountStore?

  /// - `adminTokens`: what opens the admin surface; in development usually `owner`, as Firebase's emulators have it.
  /// - `serviceAccounts`: whose access tokens open the admin surface too; nil where there are none.
  package init(mode: Mode, adminTokens: [AdminToken], serviceAccounts: ServiceAccountStore? = nil) {
    self.mode = mode
    self.adminTokens = adminTokens
    self.serviceAccounts = serviceAccounts
  }

  /// Development as the emulators have it: `Bearer owner` is the administrator.
  package static let development = AccessPolicy(mode: .development, adminTokens: [AdminToken(name: "owner", secret: "owner")])

  /// Whether the tools of development are there.
  package var isDevelopment: Bool { mode == .development }
  /// Whether namespaces come into being when they are first written to.
  package var createsNamespaces: Bool { isDevelopment }

  package func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller {
    for secret in [credentials.accessToken, credentials.idToken] {
      if let secret, let account = try serviceAccounts?.caller(secret) {
        return account.isAdmin ? try overridden(account, by: credentials.override) : account
      }
      guard let secret, let admin = adminTokens.first(where: { $0.matches(secret) }) else { continue }
      guard !admin.isPublic || !credentials.isForeign else { throw .foreignOwner }
      return try overridden(Caller(actor: .admin(admin.name), isAdmin: true), by: credentials.override)
    }
    if let token = credentials.idToken {
      // Signed tokens are the accounts' business; until they are there, production knows no users.
      let trustsAdmins = !credentials.isForeign && adminTokens.contains(where: \.isPublic)
      guard isDevelopment, let caller = UnsignedToken.caller(of: token, trustsAdmins: trustsAdmins) else {
        throw .malformedToken
      }
      return caller.isAdmin ? try overridden(caller, by: credentials.override) : caller
    }
    if credentials.accessToken != nil, !isDevelopment { throw AccessError("Unauthorized request.") }
    return .anonymous
  }

  /// An admin's request that is to be judged as another user's (Firebase's REST reference, query parameters).
  private func overridden(_ admin: Caller, by override: String?) throws(AccessError) -> Caller {
    guard let override else { return admin }
    guard let json = try? JSONParser.parse(override), json.isNull || json.object != nil else {
      throw AccessError("auth_variable_override must be a JSON object or null.")
    }
    return admin.impersonating(json.isNull ? nil : AuthVariable(json: json))
  }

  package func isVoid(_ caller: Caller) -> Bool {
    guard let grant = caller.grant else { return false }
    return serviceAccounts?.isGood(grant) != true
  }
}

/// A secret that makes its bearer an administrator.
package struct AdminToken: Sendable {
  /// Under what name the actions are recorded.
  package let name: String
  private let secret: [UInt8]

  package init(name: String, secret: String) {
    self.name = name
    self.secret = Array(secret.utf8)
  }

  /// Whether it is the word that emulators know, and with them every web page.
  var isPublic: Bool { matches("owner") }

  /// Compares without telling by its duration how much was right.
  func matches(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == secret.count, !secret.isEmpty else { return false }
    return zip(bytes, secret).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// An ID token as emulators accept it: whatever it claims is believed, its signature is not looked at.
enum UnsignedToken {
  /// Who sends the token; nil if it is none.
  ///
  /// Tokens of the database's first years (`v` is 0) hold in `d` what rules see as `auth`, whatever it is; one that says
  /// `admin` is an administrator's, where administrators need no secret (Firebase's documentation of legacy tokens).
  static func caller(of token: String, trustsAdmins: Bool) -> Caller? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.decode(parts[1]), let claims = try? JSONParser.parse(payload) else {
      return nil
    }
    if claims["v"]?.int == 0 {
      if claims["admin"]?.bool == true {
        return trustsAdmins ? Caller(actor: .admin(claims["d"]?["uid"]?.string ?? "legacy"), isAdmin: true) : nil
      }
      guard let auth = claims["d"], auth.object != nil else { return nil }
      return Caller(user: AuthVariable(json: auth))
    }
    guard let uid = claims["user_id"]?.string ?? claims["sub"]?.string ?? claims["uid"]?.string, !uid.isEmpty else {
      return nil
    }
    return Caller(user: AuthVariable(uid: uid, claims: claims))
  }
}
