import StorageCore

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

  /// Reads the fields that only administrators may set, and those that everybody may.
  mutating func read(_ fields: IdentityFields) throws(AccountError) {
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
  }

  func fill(_ record: inout AccountRecord) {
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
