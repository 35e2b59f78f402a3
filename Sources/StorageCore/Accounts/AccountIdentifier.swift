/// Something that leads to one account only: an address, a number, an identity at a provider.
public struct AccountIdentifier: Sendable, Hashable {
  /// `email`, `phone`, or a provider's name.
  public let kind: String
  /// The address, the number, the identity.
  public let value: String

  public init(kind: String, value: String) {
    self.kind = kind
    self.value = value
  }

  /// A mail address, in lower case.
  public static func email(_ address: String) -> AccountIdentifier { AccountIdentifier(kind: "email", value: address) }
  /// A telephone number, with its plus.
  public static func phone(_ number: String) -> AccountIdentifier { AccountIdentifier(kind: "phone", value: number) }
}

extension AccountRecord {
  /// Everything that leads to this account.
  public var identifiers: Set<AccountIdentifier> {
    var found = Set(providers.map { AccountIdentifier(kind: $0.id, value: $0.rawID) })
    if let email { found.insert(.email(email)) }
    if let phoneNumber { found.insert(.phone(phoneNumber)) }
    return found
  }
}
