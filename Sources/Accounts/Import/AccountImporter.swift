package import StorageCore

/// One account of an import.
package struct ImportedAccount: Sendable {
  /// The password that a row brings.
  package enum Password: Sendable {
    /// In plain text.
    case plain(String)
    /// Hashed, in the form in which hashes are stored.
    case hashed(String)
  }

  package var uid: String { template.uid }
  private let template: AccountRecord
  /// Nil if the row says nothing of them.
  private let secondFactors: [SecondFactorDraft]?
  package var password: Password?
  fileprivate var hash: String?

  /// - Parameters:
  ///   - template: the account; a `StorageCore/AccountRecord/createdAt` of zero stands for the time of the import.
  ///   - secondFactors: nil if the row says nothing of them.
  /// - Throws: `AccountError/importedFactorsNeedEmail`, `AccountError/importedFactorsNeedVerifiedEmail`
  package init(_ template: AccountRecord, secondFactors: [SecondFactorDraft]?) throws {
    let hasFactors = secondFactors?.isEmpty == false
    guard !hasFactors || template.email != nil else { throw AccountError.importedFactorsNeedEmail }
    guard !hasFactors || template.isEmailVerified else { throw AccountError.importedFactorsNeedVerifiedEmail }
    self.template = template
    self.secondFactors = secondFactors
  }

  /// The row with an id for each second factor.
  fileprivate func checked(newID: () -> String) throws -> ImportedAccount {
    var row = try ImportedAccount(
      template, secondFactors: secondFactors.map { try SecondFactorDraft.checked($0, newID: newID) })
    row.password = password
    if case .hashed(let hash)? = password { row.hash = hash }
    return row
  }

  /// The record, as it is stored at a time.
  ///
  /// - `before`: the account that is overwritten; its second factors stay if the row says nothing of any, as files of
  ///   Firebase do, for else its password alone would be enough.
  fileprivate func record(at time: Int64, before: AccountRecord?) throws -> AccountRecord {
    var record = AccountRecord(uid: uid, createdAt: template.createdAt == 0 ? time : template.createdAt, bornAt: time)
    record.copyIdentity(of: template)
    record.password = hash
    if hash == nil { record.passwordUpdatedAt = nil }
    let present = before?.secondFactors ?? []
    record.secondFactors = try secondFactors?.map { try $0.factor(beside: present, at: time) } ?? present
    return record
  }
}

extension AccountRecord {
  /// Takes over everything but uid, birth, password and second factors.
  fileprivate mutating func copyIdentity(of other: AccountRecord) {
    (email, isEmailVerified, displayName, photoURL) = (other.email, other.isEmailVerified, other.displayName, other.photoURL)
    (phoneNumber, passwordUpdatedAt, providers) = (other.phoneNumber, other.passwordUpdatedAt, other.providers)
    (lastLoginAt, validSince, isDisabled, claims) = (other.lastLoginAt, other.validSince, other.isDisabled, other.claims)
    (isCustom, signsInByLink, initialEmail) = (other.isCustom, other.signsInByLink, other.initialEmail)
  }
}

/// Brings a studio's users from elsewhere.
package struct AccountImporter: Sendable {
  /// How many accounts one import may bring.
  package static let most = 1000
  /// Accounts that go into one commit: their events must fit.
  private static let chunk = 200

  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// Stores accounts; those that cannot be stored are left out.
  ///
  /// - `rows`: the accounts, each with the index by which an error names it.
  /// - `overwrites`: whether accounts that exist are overwritten.
  /// - `triggers`: whether functions hear of it; as a rule they do not, for the players are not new.
  /// - Returns: why rows were left out.
  package func store(
    _ rows: [(index: Int, account: ImportedAccount)], overwrites: Bool, triggers: Bool, context: AccountContext
  ) async throws -> [(index: Int, error: AccountError)] {
    var errors: [(index: Int, error: AccountError)] = []
    var prepared: [(index: Int, account: ImportedAccount)] = []
    for (index, row) in rows {
      do {
        var row = try row.checked(newID: accounts.newUID)
        if case .plain(let password)? = row.password {
          row.hash = try await accounts.hash(password, of: "import", for: context)
        }
        prepared.append((index, row))
      } catch let error as AccountError {
        errors.append((index, error))
      }
    }
    for start in stride(from: 0, to: prepared.count, by: Self.chunk) {
      let part = Array(prepared[start..<min(start + Self.chunk, prepared.count)])
      errors += try await storePart(part, overwrites: overwrites, triggers: triggers, context: context)
    }
    return errors
  }

  private func storePart(
    _ part: [(index: Int, account: ImportedAccount)], overwrites: Bool, triggers: Bool, context: AccountContext
  ) async throws -> [(index: Int, error: AccountError)] {
    try await accounts.change(
      context.project, by: context.actor(for: ""), suppressingTriggers: !triggers
    ) { transaction -> [(index: Int, error: AccountError)] in
      var errors: [(index: Int, error: AccountError)] = []
      for (index, row) in part {
        let before = try transaction.account(row.uid)
        // A uid of another tenant's player is taken, whatever is to be overwritten.
        guard try before == nil ? !transaction.isTaken(row.uid) : overwrites else {
          errors.append((index, .importedAccountExists))
          continue
        }
        var record: AccountRecord
        do {
          record = try row.record(at: transaction.time, before: before)
          record.tenant = transaction.scope.tenant
        } catch let error as AccountError {
          errors.append((index, error))
          continue
        }
        if let conflict = try transaction.conflict(of: record) {
          errors.append((index, conflict))
          continue
        }
        try transaction.save(&record, from: before)
      }
      return errors
    }
  }
}

extension AccountTransaction {
  /// Whether a uid is some account's, of whatever tenant.
  fileprivate func isTaken(_ uid: String) throws -> Bool { try read { try session.account(in: namespace, uid: uid) } != nil }

  /// Whether another account has what an imported account claims.
  fileprivate func conflict(of record: AccountRecord) throws -> AccountError? {
    for identifier in record.identifiers {
      guard let owner = try account(identifier), owner.uid != record.uid else { continue }
      switch identifier.kind {
      case "email":
        if try settings.allowsDuplicateEmails { continue }
        return .importedEmailTaken
      case "phone": return .importedPhoneNumberTaken
      default: return .importedIdentityTaken
      }
    }
    return nil
  }
}
