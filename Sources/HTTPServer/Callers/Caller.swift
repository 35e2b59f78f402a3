package import Credentials
package import StorageCore

/// Who a request comes from, and what that allows by itself.
package struct Caller: Sendable, Hashable {
  /// Under what name the caller's writes are recorded.
  package let actor: Actor
  /// What an administrator or service account may do; nil for everybody else.
  package let role: AdminRole?
  /// When the credentials end, in milliseconds since 1970; nil if they do not. Checked by connections that outlive a
  /// request.
  package let validUntil: Int64?
  /// What security rules see as `auth`; nil without a signed-in user, and for an administrator.
  package let auth: AuthVariable?
  /// What a service account's access token grants; nil for everybody else. Void once the account is revoked.
  package let grant: AccessGrant?
  /// Whether an administrator impersonates a user, to see what rules say; such a caller is told why.
  package let isImpersonated: Bool
  /// Whether the credential was shown too long ago for what cannot be undone: so of a page's session, whose browser may have
  /// been left. Who sends a credential with the request has just shown it.
  package var isProofOld = false
  /// Whether one of the server's own pages asks, with the session of a browser: on record it says so.
  package var isFromPage = false

  private init(
    actor: Actor, role: AdminRole?, auth: AuthVariable?, validUntil: Int64?, grant: AccessGrant? = nil, isImpersonated: Bool
  ) {
    self.actor = actor
    self.role = role
    self.auth = auth
    self.validUntil = validUntil
    self.grant = grant
    self.isImpersonated = isImpersonated
  }

  /// Anybody; an administrator has the role of administrators.
  package init(
    actor: Actor, isAdmin: Bool, auth: AuthVariable? = nil, validUntil: Int64? = nil, isImpersonated: Bool = false
  ) {
    self.init(
      actor: actor, role: isAdmin ? .admin : nil, auth: auth, validUntil: validUntil, isImpersonated: isImpersonated)
  }

  /// A signed-in user.
  package init(user: AuthVariable, validUntil: Int64? = nil, isImpersonated: Bool = false) {
    self.init(actor: user.actor, isAdmin: false, auth: user, validUntil: validUntil, isImpersonated: isImpersonated)
  }

  /// A service account. Its writes are an administrator's, whatever its role: only the role of administrators may get to the
  /// tree (``onTree()``).
  package init(serviceAccount grant: AccessGrant) {
    self.init(
      actor: .admin(grant.account), role: grant.role, auth: nil, validUntil: grant.expiresAt * 1000, grant: grant,
      isImpersonated: false)
  }

  /// A player whose account has a role: at the administrators' surface no user, whom rules bind, but an administrator.
  package init(administratorWithAccount uid: String, role: AdminRole) {
    self.init(actor: .user(uid: uid), role: role, auth: nil, validUntil: nil, isImpersonated: false)
  }

  /// The administrator's request as one of a user, or of nobody: as long as the administrator's own credentials hold.
  package func impersonating(_ auth: AuthVariable?) -> Caller {
    Caller(
      actor: auth?.actor ?? .anonymous, role: nil, auth: auth, validUntil: validUntil, grant: grant, isImpersonated: true)
  }

  /// A client without credentials.
  package static let anonymous = Caller(actor: .anonymous, isAdmin: false)

  /// Whether rules do not apply and the whole admin surface is open.
  package var isAdmin: Bool { role == .admin }

  /// The caller for requests of the tree, where rules do not bind an administrator.
  ///
  /// - Throws: ``AccessError`` for service accounts of lower roles: they are not users, and must not pass as one who may
  ///   everything.
  package func onTree() throws(AccessError) -> Caller {
    guard let role, role != .admin else { return self }
    throw AccessError("The database takes the role admin, and \(actor) is \(role.rawValue).")
  }
}

/// How far a client has authenticated: when memory is short the unauthenticated are refused first.
package enum ClientStanding: Sendable {
  /// Has shown no credential, or none that is good.
  case unauthenticated
  /// A signed-in user.
  case user
  /// An administrator, or a service account: bounded by what it may ask, not by what others do.
  case administrator
}

extension Caller {
  /// What counts when memory is short.
  package var standing: ClientStanding {
    if role != nil { return .administrator }
    if case .user = actor { return .user }
    return .unauthenticated
  }
}
