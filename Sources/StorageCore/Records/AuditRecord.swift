/// One admin action, allowed or refused, as the audit log keeps it.
public struct AuditRecord: Sendable, Hashable {
  /// Milliseconds since 1970.
  public let time: Int64
  /// Who asked, also where it was refused.
  public let actor: Actor
  /// What was asked, such as `ledger.reverse`.
  public let action: String
  /// The arguments, as JSON, without secrets.
  public let detail: String
  /// `ok`, or why it was refused.
  public let result: String

  public init(time: Int64, actor: Actor, action: String, detail: String, result: String) {
    self.time = time
    self.actor = actor
    self.action = action
    self.detail = detail
    self.result = result
  }
}
