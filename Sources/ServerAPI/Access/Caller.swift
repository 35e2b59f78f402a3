public import StorageCore

/// Who a request comes from, and what that allows by itself.
public struct Caller: Sendable, Hashable {
  /// Under what name the caller's writes are recorded.
  public let actor: Actor
  /// Whether rules do not apply and the admin surface is open.
  public let isAdmin: Bool
  /// When the credentials end, in milliseconds since 1970; nil if they do not. Looked at by what outlives a request.
  public let validUntil: Int64?
  /// What security rules see as `auth`; nil for nobody, and for an administrator.
  public let auth: AuthVariable?
  /// Whether an administrator asks in the name of somebody else, to see what rules say; such a caller is told why.
  public let isImpersonated: Bool

  public init(
    actor: Actor, isAdmin: Bool, auth: AuthVariable? = nil, validUntil: Int64? = nil, isImpersonated: Bool = false
  ) {
    self.actor = actor
    self.isAdmin = isAdmin
    self.auth = auth
    self.validUntil = validUntil
    self.isImpersonated = isImpersonated
  }

  /// A signed-in user.
  public init(user: AuthVariable, validUntil: Int64? = nil, isImpersonated: Bool = false) {
    self.init(actor: user.actor, isAdmin: false, auth: user, validUntil: validUntil, isImpersonated: isImpersonated)
  }

  /// A client without credentials.
  public static let anonymous = Caller(actor: .anonymous, isAdmin: false)
}
