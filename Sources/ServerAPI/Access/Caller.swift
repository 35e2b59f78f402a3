public import StorageCore

/// Who a request comes from, and what that allows by itself.
public struct Caller: Sendable, Hashable {
  /// Under what name the caller's writes are recorded.
  public let actor: Actor
  /// Whether rules do not apply and the admin surface is open.
  public let isAdmin: Bool

  public init(actor: Actor, isAdmin: Bool) {
    self.actor = actor
    self.isAdmin = isAdmin
  }

  /// A client without credentials.
  public static let anonymous = Caller(actor: .anonymous, isAdmin: false)
}
