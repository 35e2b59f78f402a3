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
  /// - Parameter newID: makes the ids of second factors that have none.
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
