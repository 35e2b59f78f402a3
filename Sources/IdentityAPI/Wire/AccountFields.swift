import APISupport
import Accounts
import Credentials
import StorageCore
import TextFormats
import TreeModel

/// What a call says of an account.
extension IdentityFields {
  private static let attributes: [Int64: String] = [
    1: "EMAIL", 2: "DISPLAY_NAME", 3: "PROVIDER", 4: "PHOTO_URL", 5: "PASSWORD", 6: "RAW_USER_INFO",
  ]

  /// The fields that only administrators may set, and those that everybody may.
  ///
  /// - `needsFactorIDs`: whether a list of second factors must name each, as emulators ask for.
  func accountDraft(needsFactorIDs: Bool = false) throws -> AccountDraft {
    var draft = AccountDraft()
    draft.email = try email()
    draft.isEmailVerified = try bool("emailVerified")
    draft.displayName = try text("displayName")
    draft.photoURL = try text("photoUrl")
    if self["phoneNumber"] != nil, try text("phoneNumber") != "" { draft.phoneNumber = try phoneNumber() }
    let disabled = try bool("disabled")
    draft.isDisabled = try bool("disableUser") ?? disabled
    if let text = try text("customAttributes") { draft.claims = .some(try Self.claims(text)) }
    draft.createdAt = try int("createdAt")
    draft.lastLoginAt = try int("lastLoginAt")
    draft.validSince = try int("validSince")
    // A new account has them in the call itself, a change below another name; an empty list takes them away.
    if let changed = try object("mfa") {
      guard changed.json["enrollments"]?.isNull != true else {
        throw IdentityError.invalidArgument("Invalid JSON payload received. /mfa/enrollments must be array")
      }
      let factors = try changed.secondFactors("enrollments") ?? []
      guard !needsFactorIDs || factors.allSatisfy({ $0.id != nil }) else {
        throw IdentityError("INVALID_MFA_ENROLLMENT_ID", "mfaEnrollmentId must be defined.")
      }
      draft.secondFactors = factors
    } else {
      draft.secondFactors = try secondFactors("mfaInfo", keepsIDs: false)
    }
    return draft
  }

  /// What an update does beside setting an address.
  ///
  /// - Parameter mayLink: whether an identity may be added as it is claimed.
  func accountEdits(mayLink: Bool) throws -> AccountEdits {
    var edits = AccountEdits()
    edits.password = try text("password")
    edits.displayName = try text("displayName")
    edits.photoURL = try text("photoUrl")
    for name in try choices("deleteAttribute", among: Self.attributes) {
      switch name {
      case "EMAIL": edits.deletedAttributes.insert(.email)
      case "DISPLAY_NAME": edits.deletedAttributes.insert(.displayName)
      case "PHOTO_URL": edits.deletedAttributes.insert(.photoURL)
      case "PASSWORD": edits.deletedAttributes.insert(.password)
      default: break
      }
    }
    edits.deletedProviders = Set(try texts("deleteProvider") ?? [])
    guard mayLink, let identity = try object("linkProviderUserInfo") else { return edits }
    let id = try identity.required("providerId", orThrow: "MISSING_PROVIDER_ID")
    let rawID = try identity.required("rawId", orThrow: "MISSING_RAW_ID")
    edits.link = try identity.identity(at: Self.providerID(id), rawID: rawID)
    return edits
  }

  /// An identity at a provider, with what else is said of it.
  private func identity(at provider: ProviderID, rawID: String) throws -> AccountRecord.Provider {
    AccountRecord.Provider(
      id: provider.text, rawID: rawID, email: try text("email"), displayName: try text("displayName"),
      photoURL: try text("photoUrl"), screenName: try text("screenName"), phoneNumber: try text("phoneNumber"))
  }

  /// The claims of an account as text; an empty text takes them away.
  private static func claims(_ text: String) throws -> String? {
    do {
      _ = try ReservedClaims.claims(of: text)
    } catch {
      throw IdentityError(error)
    }
    return text.isEmpty ? nil : text
  }

  // MARK: Second factors

  /// A list of second factors; nil if there is none.
  ///
  /// - `keepsIDs`: false for a new account, whose factors get ids of their own.
  func secondFactors(_ name: String, keepsIDs: Bool = true) throws -> [SecondFactorDraft]? {
    guard let entries = try list(name) else { return nil }
    guard entries.count <= SecondFactorDraft.listMax else { throw AccountError.tooManySecondFactors }
    return try entries.map { try IdentityFields($0).secondFactor(keepsID: keepsIDs) }
  }

  /// `{mfaEnrollmentId, displayName, enrolledAt, phoneInfo | totpInfo}`; `totpInfo.sharedSecretKey` is known to exports of this
  /// server only.
  private func secondFactor(keepsID: Bool) throws -> SecondFactorDraft {
    let id = keepsID ? try text("mfaEnrollmentId") : nil
    guard id?.utf8.count ?? 0 <= 128 else { throw IdentityError("INVALID_MFA_ENROLLMENT_ID", "At most 128 bytes.") }
    let displayName = try text("displayName")
    let enrolledAt: Int64? = try text("enrolledAt").map { text in
      guard let time = CalendarTime.milliseconds(rfc3339: text) else {
        throw IdentityError.invalidArgument("enrolledAt must be a time like 2026-01-31T12:00:00.000Z.")
      }
      return time
    }
    return SecondFactorDraft(try secondFactorProof(), id: id, displayName: displayName, enrolledAt: enrolledAt)
  }

  private func secondFactorProof() throws -> SecondFactorDraft.Proof {
    let wrongNumber = IdentityError("INVALID_MFA_PHONE_NUMBER", "Invalid format.")
    if let text = try text("phoneInfo") {
      guard let number = PhoneNumber(text) else { throw wrongNumber }
      return .phone(number)
    }
    guard let own = try object("totpInfo") else { throw wrongNumber }
    return .authenticator(try own.text("sharedSecretKey").flatMap(AuthenticatorSecret.init(text:)))
  }
}

// MARK: - Imports

/// A row of an import. What is wrong with one is said in sentences, as the Identity Toolkit does.
extension IdentityFields {
  /// The account that a row describes, without its password.
  func importedAccount() throws -> ImportedAccount {
    guard let uid = try uid() else { throw IdentityError.wire("localId is missing") }
    var record = AccountRecord(uid: uid.text, createdAt: try int("createdAt") ?? 0)
    if let text = try text("email"), !text.isEmpty {
      guard let email = EmailAddress(text) else { throw IdentityError.wire("email is invalid") }
      record.email = email.text
    }
    record.isEmailVerified = try bool("emailVerified") ?? false
    record.displayName = try text("displayName")
    record.photoURL = try text("photoUrl")
    if let text = try text("phoneNumber"), !text.isEmpty {
      guard let number = PhoneNumber(text) else { throw IdentityError.wire("phone number format is invalid") }
      record.phoneNumber = number.text
    }
    record.lastLoginAt = try int("lastLoginAt")
    record.validSince = try int("validSince")
    record.isDisabled = try bool("disabled") ?? false
    record.signsInByLink = try bool("emailLinkSignin") ?? false
    record.isCustom = try bool("customAuth") ?? false
    record.initialEmail = try text("initialEmail")
    if let text = try text("customAttributes") { record.claims = try Self.importedClaims(text) }
    for identity in try importedIdentities() { record.upsert(identity) }
    record.passwordUpdatedAt = try int("passwordUpdatedAt")
    return try ImportedAccount(record, secondFactors: try secondFactors("mfaInfo"))
  }

  private static func importedClaims(_ text: String) throws -> String? {
    do {
      return try claims(text)
    } catch let error as IdentityError {
      switch error.code {
      case "CLAIMS_TOO_LARGE": throw IdentityError.wire("Custom claims provided are too large.")
      case "FORBIDDEN_CLAIM": throw IdentityError.wire("Custom claims provided include a reserved claim.")
      default: throw IdentityError.wire("Invalid custom claims provided.")
      }
    }
  }

  private func importedIdentities() throws -> [AccountRecord.Provider] {
    var identities: [AccountRecord.Provider] = []
    for entry in try list("providerUserInfo") ?? [] {
      let entry = IdentityFields(entry)
      let id = try entry.text("providerId") ?? ""
      // These two follow from the address and the number.
      if id == "password" || id == "phone" { continue }
      let federatedID = try entry.text("federatedId")
      guard !id.isEmpty, let rawID = try entry.text("rawId") ?? federatedID, !rawID.isEmpty else {
        throw IdentityError.wire("federatedId or (providerId & rawId) is required")
      }
      identities.append(try entry.identity(at: Self.providerID(id), rawID: rawID))
    }
    return identities
  }

  /// The row's hash, in the form in which hashes are stored; nil if it has none.
  ///
  /// - Parameter hashing: how it was made, if the row does not say it.
  func importedHash(_ hashing: PasswordImport?) throws -> String? {
    guard let hash = try text("passwordHash"), !hash.isEmpty else { return nil }
    do throws(PasswordImportError) {
      let own = try self["hashConfig"].map { (config) throws(PasswordImportError) in try PasswordImport(config) }
      guard let hashing = own ?? hashing else { throw .missingAlgorithm }
      return try hashing.record(hash: hash, salt: self["salt"]?.string).text
    } catch {
      throw IdentityError(error)
    }
  }
}
