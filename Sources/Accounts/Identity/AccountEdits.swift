import StorageCore

/// What an update does beside setting an address: profile, attributes and providers to remove, an identity to add.
struct AccountEdits: Sendable {
  private static let attributes: [Int64: String] = [
    1: "EMAIL", 2: "DISPLAY_NAME", 3: "PROVIDER", 4: "PHOTO_URL", 5: "PASSWORD", 6: "RAW_USER_INFO",
  ]

  let password: String?
  private let displayName: String?
  private let photoURL: String?
  private let deletedAttributes: Set<String>
  private let deletedProviders: Set<String>
  private let link: AccountRecord.Provider?

  init(_ fields: IdentityFields, isPrivileged: Bool) throws(AccountError) {
    password = try fields.text("password")
    displayName = try fields.text("displayName")
    photoURL = try fields.text("photoUrl")
    deletedAttributes = Set(try fields.choices("deleteAttribute", Self.attributes))
    deletedProviders = Set(try fields.texts("deleteProvider") ?? [])
    guard isPrivileged, let identity = try fields.object("linkProviderUserInfo") else {
      link = nil
      return
    }
    guard let id = try identity.text("providerId"), !id.isEmpty else { throw AccountError("MISSING_PROVIDER_ID") }
    guard let rawID = try identity.text("rawId"), !rawID.isEmpty else { throw AccountError("MISSING_RAW_ID") }
    link = AccountRecord.Provider(
      id: try AccountRules.providerID(id), rawID: rawID, email: try identity.text("email"),
      displayName: try identity.text("displayName"), photoURL: try identity.text("photoUrl"),
      screenName: try identity.text("screenName"), phoneNumber: try identity.text("phoneNumber"))
  }

  func apply(to record: inout AccountRecord) {
    // Null is not set; an empty text is how clients take a name or a photo away that send no `deleteAttribute`.
    if let displayName { record.displayName = displayName.isEmpty ? nil : displayName }
    if let photoURL { record.photoURL = photoURL.isEmpty ? nil : photoURL }
    if let link { record.upsert(link) }
    for attribute in deletedAttributes {
      switch attribute {
      case "EMAIL": record.removeEmail()
      case "DISPLAY_NAME": record.displayName = nil
      case "PHOTO_URL": record.photoURL = nil
      case "PASSWORD": record.password = nil
      default: break
      }
    }
    for provider in deletedProviders {
      switch provider {
      case "password":
        record.removeEmail()
        record.password = nil
      case "phone": record.phoneNumber = nil
      default: record.providers.removeAll { $0.id == provider }
      }
    }
  }
}

extension AccountRecord {
  /// Adds an identity, in the place of an earlier one of the same provider.
  mutating func upsert(_ provider: Provider) {
    if let index = providers.firstIndex(where: { $0.id == provider.id }) {
      providers[index] = provider
    } else {
      providers.append(provider)
    }
  }

  /// Takes away every way in that whoever made the account set, who had not shown to own its address: the owner has come.
  /// Second factors stay, and are asked for: who has them once had shown to own an address.
  ///
  /// - Parameter seconds: since 1970; tokens from before are void.
  mutating func dropUnproved(at seconds: Int64) {
    password = nil
    phoneNumber = nil
    providers = []
    signsInByLink = false
    validSince = seconds
  }

  mutating func removeEmail() {
    email = nil
    isEmailVerified = false
    signsInByLink = false
  }
}
