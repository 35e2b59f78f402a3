import Credentials
import StorageCore
import TextFormats
import TreeModel

/// A second factor as an administrator gives it: `{mfaEnrollmentId, displayName, enrolledAt, phoneInfo | totpInfo}`.
struct SecondFactorDraft: Sendable {
  private let id: String
  private let displayName: String?
  private let enrolledAt: Int64?
  private let phoneNumber: String?
  /// What only an export of this server has: `totpInfo.sharedSecretKey`.
  private let secret: AuthenticatorSecret?

  /// - `newID`: makes the id of an enrolment that has none.
  /// - `keepsIDs`: false for a new account, whose enrolments get ids of their own.
  /// - Throws: `INVALID_MFA_PHONE_NUMBER`, or what else is wrong with an entry.
  static func list(_ entries: [JSON], keepsIDs: Bool = true, newID: () -> String) throws(AccountError) -> [SecondFactorDraft] {
    guard entries.count <= 10 * SecondFactor.most else { throw AccountError("SECOND_FACTOR_LIMIT_EXCEEDED") }
    var drafts: [SecondFactorDraft] = []
    for entry in entries {
      let draft = try SecondFactorDraft(IdentityFields(entry), keepsID: keepsIDs, newID: newID)
      // The same number twice is one factor: the first.
      if let number = draft.phoneNumber, drafts.contains(where: { $0.phoneNumber == number }) { continue }
      guard !drafts.contains(where: { $0.id == draft.id }) else { throw AccountError("DUPLICATE_MFA_ENROLLMENT_ID") }
      drafts.append(draft)
    }
    guard drafts.count <= SecondFactor.most else { throw AccountError("SECOND_FACTOR_LIMIT_EXCEEDED") }
    return drafts
  }

  private init(_ fields: IdentityFields, keepsID: Bool, newID: () -> String) throws(AccountError) {
    let given = keepsID ? try fields.text("mfaEnrollmentId") : nil
    id = given.flatMap { $0.isEmpty ? nil : $0 } ?? newID()
    guard id.utf8.count <= 128 else { throw AccountError("INVALID_MFA_ENROLLMENT_ID", "At most 128 bytes.") }
    displayName = try fields.text("displayName")
    if let text = try fields.text("enrolledAt") {
      guard let time = CalendarTime.milliseconds(rfc3339: text) else {
        throw .invalidArgument("enrolledAt must be a time like 2026-01-31T12:00:00.000Z.")
      }
      enrolledAt = time
    } else {
      enrolledAt = nil
    }
    if let number = try fields.text("phoneInfo") {
      do throws(AccountError) {
        phoneNumber = try PhoneNumber.checked(number)
      } catch {
        throw AccountError("INVALID_MFA_PHONE_NUMBER", "Invalid format.")
      }
      secret = nil
      return
    }
    guard let own = try fields.object("totpInfo") else { throw AccountError("INVALID_MFA_PHONE_NUMBER", "Invalid format.") }
    phoneNumber = nil
    secret = try own.text("sharedSecretKey").flatMap(AuthenticatorSecret.init(text:))
  }

  /// The factor, where an account has others now.
  ///
  /// - Throws: for an authenticator whose secret neither the draft nor the account has.
  func factor(beside present: [SecondFactor], at time: Int64) throws(AccountError) -> SecondFactor {
    let before = present.first { $0.id == id }
    let proof: SecondFactor.Proof
    if let phoneNumber {
      proof = .phone(number: phoneNumber)
    } else if let secret {
      // A code that was used stays used.
      if case .authenticator(secret.bytes, let lastStep)? = before?.proof {
        proof = .authenticator(secret: secret.bytes, lastStep: lastStep)
      } else {
        proof = .authenticator(secret: secret.bytes, lastStep: -1)
      }
    } else if let before, before.kind == .authenticator {
      proof = before.proof
    } else {
      throw .invalidArgument("An authenticator is enrolled by its player; what was exported bears sharedSecretKey.")
    }
    return SecondFactor(
      id: id, displayName: displayName, enrolledAt: enrolledAt ?? before?.enrolledAt ?? time, proof: proof)
  }
}
