public import Credentials
public import StorageCore

/// Who a request comes from, and what that allows by itself.
public struct Caller: Sendable, Hashable {
  /// Under what name the caller's writes are recorded.
  public let actor: Actor
  /// What an administrator or service account may do; nil for everybody else.
  public let role: AdminRole?
  /// When the credentials end, in milliseconds since 1970; nil if they do not. Looked at by what outlives a request.
  public let validUntil: Int64?
  /// What security rules see as `auth`; nil for nobody, and for an administrator.
  public let auth: AuthVariable?
  /// Whether an administrator asks in the name of somebody else, to see what rules say; such a caller is told why.
  public let isImpersonated: Bool

  private init(actor: Actor, role: AdminRole?, auth: AuthVariable?, validUntil: Int64?, isImpersonated: Bool) {
    self.actor = actor
    self.role = role
    self.auth = auth
    self.validUntil = validUntil
    self.isImpersonated = isImpersonated
  }

  /// Anybody; an administrator has the role of administrators.
  public init(
    actor: Actor, isAdmin: Bool, auth: AuthVariable? = nil, validUntil: Int64? = nil, isImpersonated: Bool = false
  ) {
    self.init(
      actor: actor, role: isAdmin ? .admin : nil, auth: auth, validUntil: validUntil, isImpersonated: isImpersonated)
  }

  /// A signed-in user.
  public init(user: AuthVariable, validUntil: Int64? = nil, isImpersonated: Bool = false) {
    self.init(actor: user.actor, isAdmin: false, auth: user, validUntil: validUntil, isImpersonated: isImpersonated)
  }

  /// A service account. Its writes are an administrator's, whatever its role: only the role of administrators may get to the
  /// tree (``onTree()``).
  public init(serviceAccount name: String, role: AdminRole, validUntil: Int64) {
    self.init(actor: .admin(name), role: role, auth: nil, validUntil: validUntil, isImpersonated: false)
  }

  /// A client without credentials.
  public static let anonymous = Caller(actor: .anonymous, isAdmin: false)

  /// Whether rules do not apply and the whole admin surface is open.
  public var isAdmin: Bool { role == .admin }

  /// The caller at the door of the tree, where rules do not bind an administrator.
  ///
  /// - Throws: ``AccessRefusal`` for service accounts of lower roles: they are not users, and must not pass as one who may
  ///   everything.
  func onTree() throws(AccessRefusal) -> Caller {
    guard let role, role != .admin else { return self }
    throw AccessRefusal("The database takes the role admin, and \(actor) is \(role.rawValue).")
  }
}
