import Credentials
import StorageCore
import TreeModel

/// One account of an import, read and checked.
struct ImportedAccount: Sendable {
  let uid: String
  private let template: AccountRecord
  /// Nil if the row says nothing of them.
  private let factors: [SecondFactorDraft]?

  /// - `hashing`: how the row's password is hashed, if the row does not say it.
  /// - `password`: what is stored instead of what the row says.
  /// - `newID`: makes the ids of second factors that have none.
  /// - Throws: what is wrong with the row, for its line in the answer.
  init(_ fields: IdentityFields, _ hashing: PasswordImport?, password: String?, newID: () -> String) throws(AccountError) {
    guard let uid = try AccountService.uid(fields.text("localId")) else { throw AccountError(wire: "localId is missing") }
    self.uid = uid
    var record = AccountRecord(uid: uid, createdAt: try fields.int("createdAt") ?? 0)
    if let email = try fields.text("email"), !email.isEmpty {
      do throws(AccountError) {
        record.email = try EmailAddress.normalized(email)
      } catch {
        throw AccountError(wire: "email is invalid")
      }
    }
    record.isEmailVerified = try fields.bool("emailVerified") ?? false
    record.displayName = try fields.text("displayName")
    record.photoURL = try fields.text("photoUrl")
    if let number = try fields.text("phoneNumber"), !number.isEmpty {
      do throws(AccountError) {
        record.phoneNumber = try PhoneNumber.checked(number)
      } catch {
        throw AccountError(wire: "phone number format is invalid")
      }
    }
    record.lastLoginAt = try fields.int("lastLoginAt")
    record.validSince = try fields.int("validSince")
    record.isDisabled = try fields.bool("disabled") ?? false
    record.signsInByLink = try fields.bool("emailLinkSignin") ?? false
    record.isCustom = try fields.bool("customAuth") ?? false
    record.initialEmail = try fields.text("initialEmail")
    if let claims = try fields.text("customAttributes") { record.claims = try Self.claims(claims) }
    try Self.readProviders(fields, &record)
    let factors = try SecondFactorDraft.list(try fields.list("mfaInfo") ?? [], newID: newID)
    guard factors.isEmpty || record.email != nil else {
      throw AccountError(wire: "Second factor account requires email to be presented.")
    }
    guard factors.isEmpty || record.isEmailVerified else {
      throw AccountError(wire: "Second factor account requires email to be verified.")
    }
    self.factors = fields["mfaInfo"] == nil ? nil : factors
    record.password = if let password { password } else { try Self.password(fields, hashing) }
    record.passwordUpdatedAt = record.password == nil ? nil : try fields.int("passwordUpdatedAt")
    template = record
  }

  /// The record, as it is stored at a time.
  ///
  /// - `before`: the account that is overwritten; its second factors stay if the row says nothing of any, as files of
  ///   Firebase do, for else its password alone would be enough.
  /// - Throws: what is wrong with the second factors.
  func record(at time: Int64, before: AccountRecord?) throws(AccountError) -> AccountRecord {
    var record = AccountRecord(uid: uid, createdAt: template.createdAt == 0 ? time : template.createdAt, bornAt: time)
    record.copyIdentity(of: template)
    let present = before?.secondFactors ?? []
    guard let factors else {
      record.secondFactors = present
      return record
    }
    record.secondFactors = try factors.map { (draft) throws(AccountError) in try draft.factor(beside: present, at: time) }
    return record
  }

  /// An import names these faults in sentences.
  private static func claims(_ text: String) throws(AccountError) -> String? {
    do throws(AccountError) {
      return try AccountRules.claims(text)
    } catch {
      switch error.code {
      case "CLAIMS_TOO_LARGE": throw AccountError(wire: "Custom claims provided are too large.")
      case "FORBIDDEN_CLAIM": throw AccountError(wire: "Custom claims provided include a reserved claim.")
      default: throw AccountError(wire: "Invalid custom claims provided.")
      }
    }
  }

  private static func readProviders(_ fields: IdentityFields, _ record: inout AccountRecord) throws(AccountError) {
    for entry in try fields.list("providerUserInfo") ?? [] {
      let entry = IdentityFields(entry)
      let id = try entry.text("providerId") ?? ""
      // These two follow from the address and the number.
      if id == "password" || id == "phone" { continue }
      let federatedID = try entry.text("federatedId")
      guard !id.isEmpty, let rawID = try entry.text("rawId") ?? federatedID, !rawID.isEmpty else {
        throw AccountError(wire: "federatedId or (providerId & rawId) is required")
      }
      record.upsert(
        AccountRecord.Provider(
          id: try AccountRules.providerID(id), rawID: rawID, email: try entry.text("email"),
          displayName: try entry.text("displayName"), photoURL: try entry.text("photoUrl"),
          screenName: try entry.text("screenName"), phoneNumber: try entry.text("phoneNumber")))
    }
  }

  private static func password(_ fields: IdentityFields, _ hashing: PasswordImport?) throws(AccountError) -> String? {
    guard let hash = try fields.text("passwordHash"), !hash.isEmpty else { return nil }
    do throws(PasswordImportError) {
      let own = try fields["hashConfig"].map { (config) throws(PasswordImportError) in try PasswordImport(config) }
      guard let hashing = own ?? hashing else { throw .missingAlgorithm }
      return try hashing.record(hash: hash, salt: try saltText(fields)).text
    } catch {
      throw AccountError(wire: error.description)
    }
  }

  private static func saltText(_ fields: IdentityFields) throws(PasswordImportError) -> String? {
    fields["salt"]?.string
  }
}

extension AccountRecord {
  /// Takes over everything but uid and birth.
  fileprivate mutating func copyIdentity(of other: AccountRecord) {
    (email, isEmailVerified, displayName, photoURL) = (other.email, other.isEmailVerified, other.displayName, other.photoURL)
    (phoneNumber, password, passwordUpdatedAt) = (other.phoneNumber, other.password, other.passwordUpdatedAt)
    (providers, lastLoginAt, validSince, isDisabled) = (other.providers, other.lastLoginAt, other.validSince, other.isDisabled)
    (claims, isCustom, signsInByLink, initialEmail) = (other.claims, other.isCustom, other.signsInByLink, other.initialEmail)
  }
}
