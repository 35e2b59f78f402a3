public import StorageCore
import TreeModel

/// One call of the Identity Toolkit, understood as far as its surface can: whose project, by whose right, from where.
public struct IdentityCall: Sendable {
  /// Whose accounts are meant.
  public let project: AccountProject
  /// What the body, or the query of a GET, says.
  public let fields: IdentityFields
  /// Whether the caller is an administrator.
  public let isPrivileged: Bool
  /// Under what name an administrator's changes are recorded.
  public let actor: Actor
  /// Whom limits take the client for: its address, of IPv6 its network.
  public let address: String
  /// Where this server is, as the client sees it: `http://127.0.0.1:9000`. Links in mails begin with it.
  public let base: String
  /// The client's key, for links in mails.
  public let apiKey: String
  /// The languages that the caller reads, the best first: mails come in one of them.
  public let locales: [String]

  public init(
    project: AccountProject, fields: IdentityFields, isPrivileged: Bool, actor: Actor, address: String, base: String,
    apiKey: String, locales: [String] = []
  ) {
    self.project = project
    self.fields = fields
    self.isPrivileged = isPrivileged
    self.actor = actor
    self.address = address
    self.base = base
    self.apiKey = apiKey
    self.locales = locales
  }

  /// The same call with other fields.
  public func with(_ fields: IdentityFields) -> IdentityCall {
    IdentityCall(
      project: project, fields: fields, isPrivileged: isPrivileged, actor: actor, address: address, base: base,
      apiKey: apiKey, locales: locales)
  }

  /// The account that an administrator's call names; empty if it names none.
  public var localID: String { fields["localId"]?.string ?? "" }

  /// The project that the body names; nil if it names none.
  public static func targetProject(of fields: IdentityFields) -> String? {
    fields["targetProjectId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Who a change is recorded for.
  func actor(for uid: String) -> Actor { isPrivileged ? actor : .user(uid: uid) }

  func required(_ name: String, _ code: String) throws(AccountError) -> String {
    guard let text = try fields.text(name), !text.isEmpty else { throw AccountError(code) }
    return text
  }
}
