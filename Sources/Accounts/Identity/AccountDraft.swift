import StorageCore
import TreeModel

/// What an administrator says about an account: only what is there is set.
struct AccountDraft: Sendable {
  private var email: String?
  private var isEmailVerified: Bool?
  private var displayName: String?
  private var photoURL: String?
  private var phoneNumber: String?
  private var isDisabled: Bool?
  private var claims: String??
  private var createdAt: Int64?
  private var lastLoginAt: Int64?
  private var validSince: Int64?
  private var secondFactors: [SecondFactorDraft]?

  /// Reads the fields that only administrators may set, and those that everybody may.
  ///
  /// - `newID`: makes the ids of second factors that have none.
  mutating func read(_ fields: IdentityFields, newID: () -> String) throws(AccountError) {
    if let text = try fields.text("email") { email = try EmailAddress.normalized(text) }
    isEmailVerified = try fields.bool("emailVerified")
    displayName = try fields.text("displayName")
    photoURL = try fields.text("photoUrl")
    if let text = try fields.text("phoneNumber"), !text.isEmpty { phoneNumber = try PhoneNumber.checked(text) }
    let disabled = try fields.bool("disabled")
    isDisabled = try fields.bool("disableUser") ?? disabled
    if let text = try fields.text("customAttributes") { claims = .some(try AccountRules.claims(text)) }
    createdAt = try fields.int("createdAt")
    lastLoginAt = try fields.int("lastLoginAt")
    validSince = try fields.int("validSince")
    // Of a new account they stand in the call itself, of a change behind another name; an empty list takes them away.
    if let changed = try fields.object("mfa") {
      guard changed.json["enrollments"]?.isNull != true else {
        throw .invalidArgument("Invalid JSON payload received. /mfa/enrollments must be array")
      }
      secondFactors = try SecondFactorDraft.list(try changed.list("enrollments") ?? [], newID: newID)
    } else if let created = try fields.list("mfaInfo") {
      secondFactors = try SecondFactorDraft.list(created, keepsIDs: false, newID: newID)
    }
  }

  func fill(_ record: inout AccountRecord, at time: Int64) throws(AccountError) {
    if let secondFactors {
      let present = record.secondFactors
      record.secondFactors = try secondFactors.map { (draft) throws(AccountError) in
        try draft.factor(beside: present, at: time)
      }
    }
    if let email {
      if email != record.email { record.isEmailVerified = false }
      record.email = email
    }
    record.isEmailVerified = isEmailVerified ?? record.isEmailVerified
    record.displayName = displayName ?? record.displayName
    record.photoURL = photoURL ?? record.photoURL
    record.phoneNumber = phoneNumber ?? record.phoneNumber
    record.isDisabled = isDisabled ?? record.isDisabled
    if let claims { record.claims = claims }
    record.createdAt = createdAt ?? record.createdAt
    record.lastLoginAt = lastLoginAt ?? record.lastLoginAt
    record.validSince = validSince ?? record.validSince
  }
}

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
