package import StorageCore
package import TreeModel

/// One call of the Identity Toolkit, understood as far as its surface can: whose project, by whose right, from where.
package struct IdentityCall: Sendable {
  /// Whose accounts are meant.
  package let project: AccountProject
  /// What the body, or the query of a GET, says.
  package let fields: IdentityFields
  /// Whether the caller is an administrator.
  package let isPrivileged: Bool
  /// Under what name an administrator's changes are recorded.
  package let actor: Actor
  /// Whom limits take the client for: its address, of IPv6 its network.
  package let address: String
  /// Where this server is, as the client sees it: `http://127.0.0.1:9000`. Links in mails begin with it.
  package let base: String
  /// The client's key, for links in mails.
  package let apiKey: String
  /// The languages that the caller reads, the best first: mails come in one of them.
  package let locales: [String]

  package init(
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
  package func with(_ fields: IdentityFields) -> IdentityCall {
    IdentityCall(
      project: project, fields: fields, isPrivileged: isPrivileged, actor: actor, address: address, base: base,
      apiKey: apiKey, locales: locales)
  }

  /// The account that an administrator's call names; empty if it names none.
  package var localID: String { fields["localId"]?.string ?? "" }

  /// The project that the body names; nil if it names none.
  package static func targetProject(of fields: IdentityFields) -> String? {
    fields["targetProjectId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Who a change is recorded for.
  func actor(for uid: String) -> Actor { isPrivileged ? actor : .user(uid: uid) }

  func required(_ name: String, _ code: String) throws(AccountError) -> String {
    guard let text = try fields.text(name), !text.isEmpty else { throw AccountError(code) }
    return text
  }
}

/// The fields of a call, as tolerant as the protocol is: camel or snake case, null as absent, unknown ones ignored; but a
/// field of another type is refused (spec: auth-protocol §2.0).
package struct IdentityFields: Sendable {
  let json: JSON

  package init(_ json: JSON) {
    self.json = json
  }

  /// A field, whatever it is; nil if it is null or missing, in every spelling.
  subscript(name: String) -> JSON? {
    for spelling in [name, Self.snake(name)] + (name == "photoUrl" ? ["photoURL"] : []) {
      if let value = json[spelling], !value.isNull { return value }
    }
    return nil
  }

  func text(_ name: String) throws(AccountError) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string else { throw Self.wrongType(name) }
    return text
  }

  func bool(_ name: String) throws(AccountError) -> Bool? {
    guard let value = self[name] else { return nil }
    if let bool = value.bool { return bool }
    switch value.string {
    case "true": return true
    case "false": return false
    default: throw Self.wrongType(name)
    }
  }

  /// A number, or the text of one.
  func int(_ name: String) throws(AccountError) -> Int64? {
    guard let value = self[name] else { return nil }
    guard let int = value.int ?? value.string.flatMap({ Int64($0) }) else { throw Self.wrongType(name) }
    return int
  }

  func list(_ name: String) throws(AccountError) -> [JSON]? {
    guard let value = self[name] else { return nil }
    guard let list = value.array else { throw Self.wrongType(name) }
    return list
  }

  func texts(_ name: String) throws(AccountError) -> [String]? {
    guard let list = try list(name) else { return nil }
    var texts: [String] = []
    for value in list {
      guard let text = value.string else { throw Self.wrongType(name) }
      texts.append(text)
    }
    return texts
  }

  func object(_ name: String) throws(AccountError) -> IdentityFields? {
    guard let value = self[name] else { return nil }
    guard value.object != nil else { throw Self.wrongType(name) }
    return IdentityFields(value)
  }

  /// One of an enumeration's names, or its number.
  func choice(_ name: String, _ byNumber: [Int64: String]) throws(AccountError) -> String? {
    guard let value = self[name] else { return nil }
    return try Self.choice(value, name, byNumber)
  }

  /// Several of an enumeration's names, or numbers.
  func choices(_ name: String, _ byNumber: [Int64: String]) throws(AccountError) -> [String] {
    var found: [String] = []
    for value in try list(name) ?? [] { found.append(try Self.choice(value, name, byNumber)) }
    return found
  }

  private static func choice(_ value: JSON, _ name: String, _ byNumber: [Int64: String]) throws(AccountError) -> String {
    if let text = value.string { return text }
    guard let number = value.int, let text = byNumber[number] else { throw wrongType(name) }
    return text
  }

  private static func wrongType(_ name: String) -> AccountError {
    .invalidArgument("Invalid JSON payload received. \(name) has a value of the wrong type.")
  }

  private static func snake(_ name: String) -> String {
    var text = ""
    for character in name {
      if character.isUppercase { text += "_" }
      text += character.lowercased()
    }
    return text
  }
}
