import Accounts
import StorageCore
import TreeModel

/// One call of the Identity Toolkit: who makes it, and what its body says.
struct IdentityCall: Sendable {
  let context: AccountContext
  /// What the body, or the query of a GET, says.
  let fields: IdentityFields

  var project: AccountProject { context.project }
  /// Whether the caller is an administrator.
  var isPrivileged: Bool { context.administrator != nil }
  /// Under what name an administrator's changes are recorded.
  var actor: StorageCore.Actor { context.administrator ?? .anonymous }
  /// The account that an administrator's call names; empty if it names none.
  var localID: String { fields["localId"]?.string ?? "" }

  /// The same call for other accounts of the project.
  func within(_ scope: AccountScope) -> IdentityCall { IdentityCall(context: context.within(scope), fields: fields) }

  /// The project that a body names; nil if it names none.
  static func targetProject(of fields: IdentityFields) -> String? {
    fields["targetProjectId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The fields of a call, as tolerant as the Identity Toolkit is: camel or snake case, null as absent, unknown ones ignored; but
/// a field of another type is refused.
struct IdentityFields: Sendable {
  let json: JSON

  init(_ json: JSON) {
    self.json = json
  }

  /// A field, whatever it is; nil if it is null or missing, in every spelling.
  subscript(name: String) -> JSON? {
    for spelling in [name, Self.snake(name)] + (name == "photoUrl" ? ["photoURL"] : []) {
      if let value = json[spelling], !value.isNull { return value }
    }
    return nil
  }

  func text(_ name: String) throws -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string else { throw Self.wrongType(name) }
    return text
  }

  /// A text that must be there.
  ///
  /// - `code`: what is answered if it is missing or empty.
  func required(_ name: String, orThrow code: String) throws -> String {
    guard let text = try text(name), !text.isEmpty else { throw IdentityError(code) }
    return text
  }

  func bool(_ name: String) throws -> Bool? {
    guard let value = self[name] else { return nil }
    if let bool = value.bool { return bool }
    switch value.string {
    case "true": return true
    case "false": return false
    default: throw Self.wrongType(name)
    }
  }

  /// A number, or the text of one.
  func int(_ name: String) throws -> Int64? {
    guard let value = self[name] else { return nil }
    guard let int = value.int ?? value.string.flatMap({ Int64($0) }) else { throw Self.wrongType(name) }
    return int
  }

  func list(_ name: String) throws -> [JSON]? {
    guard let value = self[name] else { return nil }
    guard let list = value.array else { throw Self.wrongType(name) }
    return list
  }

  func texts(_ name: String) throws -> [String]? {
    try list(name)?.map { value in
      guard let text = value.string else { throw Self.wrongType(name) }
      return text
    }
  }

  func object(_ name: String) throws -> IdentityFields? {
    guard let value = self[name] else { return nil }
    guard value.object != nil else { throw Self.wrongType(name) }
    return IdentityFields(value)
  }

  /// One of an enumeration's names, or its number.
  func choice(_ name: String, among byNumber: [Int64: String]) throws -> String? {
    guard let value = self[name] else { return nil }
    return try Self.choice(value, of: name, among: byNumber)
  }

  /// Several of an enumeration's names, or numbers.
  func choices(_ name: String, among byNumber: [Int64: String]) throws -> [String] {
    try (try list(name) ?? []).map { try Self.choice($0, of: name, among: byNumber) }
  }

  private static func choice(_ value: JSON, of name: String, among byNumber: [Int64: String]) throws -> String {
    if let text = value.string { return text }
    guard let number = value.int, let text = byNumber[number] else { throw wrongType(name) }
    return text
  }

  private static func wrongType(_ name: String) -> IdentityError {
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

// MARK: - Names

extension IdentityFields {
  /// A mail address.
  ///
  /// - Throws: `INVALID_EMAIL` for anything but one plain address.
  func email(_ name: String = "email") throws -> EmailAddress? { try text(name).map(Self.email) }

  /// A mail address that must be there.
  func requiredEmail() throws -> EmailAddress { try Self.email(try required("email", orThrow: "MISSING_EMAIL")) }

  private static func email(_ text: String) throws -> EmailAddress {
    guard let address = EmailAddress(text) else { throw IdentityError("INVALID_EMAIL") }
    return address
  }

  /// A telephone number; a missing one is as wrong as one that is none.
  func phoneNumber() throws -> PhoneNumber {
    guard let number = PhoneNumber(try text("phoneNumber") ?? "") else {
      throw IdentityError("INVALID_PHONE_NUMBER", "Invalid format.")
    }
    return number
  }

  /// A uid that somebody chose.
  func uid() throws -> AccountID? {
    try text("localId").map { text in
      guard let uid = AccountID(text) else {
        throw IdentityError("INVALID_LOCAL_ID", "A uid has 1 to 128 characters, and no control characters.")
      }
      return uid
    }
  }

  static func providerID(_ text: String) throws -> ProviderID {
    guard let id = ProviderID(text) else {
      throw IdentityError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid provider ID: \(text.prefix(128)).")
    }
    return id
  }
}
