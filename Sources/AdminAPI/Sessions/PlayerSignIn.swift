import APISupport
import Accounts
import Credentials
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

/// Players whose accounts have a role at the console: a claim of the account says which.
///
/// Only what administrators gave the account counts, not what a custom token added, and only tokens that this server signed.
/// What the session began with is looked at again at every request: it ends when the account is disabled or deleted, its
/// tokens are revoked, or the claim changes.
struct PlayerSignIn {
  /// How long ago the player may have signed in, in seconds.
  private static let freshness: Int64 = 300

  private let accounts: AccountService
  private let project: AccountProject
  private let claim: String
  private let requiresSecondFactor: Bool

  /// Nil where no player may.
  init?(_ call: RouteCall, settings: ConsoleSettings) {
    guard let claim = settings.claim, let accounts = call.services.accounts, accounts.issuer.mode == .signed,
      let namespace = call.services.database.namespace(named: call.services.defaultNamespace)
    else { return nil }
    let (name, suffix) = (call.services.defaultNamespace, "-default-rtdb")
    self.accounts = accounts
    self.claim = claim
    requiresSecondFactor = settings.requiresSecondFactor
    project = AccountProject(
      name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name, namespace: namespace, scope: .project)
  }

  /// Who signs in with an ID token, and how to see whether that still holds; nil for nobody who may.
  func judge(_ idToken: String) -> (caller: Caller, stands: (@Sendable () -> Bool)?)? {
    guard let token = try? accounts.verified(idToken, of: project), token.expiresAt != nil,
      accounts.clock.now() / 1000 - token.authTime <= Self.freshness,
      !requiresSecondFactor || token.secondFactor != nil, let standing = standing(by: token)
    else { return nil }
    return (Caller(administratorWithAccount: token.uid, role: standing.role), { standing == self.standing(by: token) })
  }

  /// What a session rests on.
  private struct Standing: Equatable {
    let role: AdminRole
    /// Before when tokens are void. Tokens tell seconds only: that it changed ends sessions of the same second, too.
    let validSince: Int64?
  }

  /// How the account stands that a token is of; nil if the token is not good for it any more, or it has no role.
  private func standing(by token: IDToken) -> Standing? {
    guard let record = try? accounts.account(of: token, in: project),
      let claims = record.claims.flatMap({ try? JSONParser.parse($0) })
    else { return nil }
    return claims[claim]?.string.flatMap(AdminRole.init).map { Standing(role: $0, validSince: record.validSince) }
  }
}
