package import HTTPServer
import StorageCore
import TreeModel

/// Access without accounts and rules: admin tokens, and a tree that is open (development) or closed (production).
///
/// With rules it is ``RuledAccess``, which asks this one where a namespace has none.
package struct AccessPolicy: Authenticating {
  /// The two ways to run the server (design §8).
  package enum Mode: Sendable, Hashable {
    /// Unsigned tokens name a user, namespaces appear on first use, and without rules everybody may read and write.
    case development
    /// Everything is refused that is not an admin's.
    case production
  }

  /// Development or production.
  package let mode: Mode
  private let adminTokens: [AdminToken]
  private let serviceAccounts: ServiceAccountDesk?

  /// - Parameter adminTokens: what opens the admin surface; in development usually `owner`, as Firebase's emulators have it.
  /// - Parameter serviceAccounts: whose access tokens open the admin surface too; nil where there are none.
  package init(mode: Mode, adminTokens: [AdminToken], serviceAccounts: ServiceAccountDesk? = nil) {
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

  package func caller(_ credentials: RequestCredentials) throws(AccessRefusal) -> Caller {
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
    if credentials.accessToken != nil, !isDevelopment { throw AccessRefusal("Unauthorized request.") }
    return .anonymous
  }

  /// An admin's request that is to be judged as somebody else's (spec: rtdb-protocol §2, `auth_variable_override`).
  private func overridden(_ admin: Caller, by override: String?) throws(AccessRefusal) -> Caller {
    guard let override else { return admin }
    guard let json = try? JSONParser.parse(override), json.isNull || json.object != nil else {
      throw AccessRefusal("auth_variable_override must be a JSON object or null.")
    }
    return admin.impersonating(json.isNull ? nil : AuthVariable(json: json))
  }

  package func isVoid(_ caller: Caller) -> Bool {
    guard let grant = caller.grant else { return false }
    return serviceAccounts?.isGood(grant) != true
  }
}
