import Credentials
import StorageCore
package import TreeModel

/// Bringing a studio's users: `accounts:batchCreate` (spec: auth-protocol §2.7, §5).
extension AccountService {
  /// Accounts that go into one commit: their events must fit.
  private static let chunk = 200

  /// `accounts:batchCreate`: rows that cannot be taken are named in the answer, the others are stored.
  ///
  /// Functions see nothing of it, for the players are not new, unless the body says `"triggers": true` (which is this
  /// server's own).
  package func batchCreate(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let fields = call.fields
    let users = try fields.list("users") ?? []
    guard !users.isEmpty else { throw AccountError("MISSING_USER_ACCOUNT") }
    guard users.count <= 1000 else { throw .invalidArgument("At most 1000 accounts are imported at once.") }
    let overwriting = try fields.bool("allowOverwrite")
    let overwrites = overwriting ?? true
    let triggers = try fields.bool("triggers") ?? false
    if overwriting != true { try Self.checkUIDs(users) }
    if try fields.bool("sanityCheck") ?? false { try Self.checkDuplicates(users) }
    let hashing = try passwordImport(users, fields)
    var errors: [(Int, String)] = []
    var rows: [(index: Int, row: ImportedAccount)] = []
    for (index, user) in users.enumerated() {
      do throws(AccountError) {
        let password = try rawPassword(of: user)
        let hash: String? = if let password { try await self.hash(password, of: "import", call) } else { nil }
        rows.append((index, try ImportedAccount(IdentityFields(user), hashing, password: hash, newID: newUID)))
      } catch {
        errors.append((index, error.message))
      }
    }
    var start = 0
    while start < rows.count {
      let part = Array(rows[start..<min(start + Self.chunk, rows.count)])
      errors += try await store(part, overwrites: overwrites, triggers: triggers, call)
      start += part.count
    }
    let list = errors.sorted { $0.0 < $1.0 }.map { index, message -> JSON in
      ["index": .int(Int64(index)), "message": .string(message)]
    }
    return JSON(fields: [
      ("kind", "identitytoolkit#UploadAccountResponse"), ("error", list.isEmpty ? nil : .array(list)),
    ])
  }

  private func store(
    _ part: [(index: Int, row: ImportedAccount)], overwrites: Bool, triggers: Bool, _ call: IdentityCall
  ) async throws(AccountError) -> [(Int, String)] {
    try await change(call.project, by: call.actor, suppressingTriggers: !triggers) { (bench) throws(AccountError) in
      var errors: [(Int, String)] = []
      for (index, row) in part {
        let before = try bench.account(row.uid)
        guard before == nil || overwrites else {
          errors.append((index, "localId belongs to an existing account - can not overwrite."))
          continue
        }
        let record: AccountRecord
        do throws(AccountError) {
          record = try row.record(at: bench.time, before: before)
        } catch {
          errors.append((index, error.message))
          continue
        }
        if let conflict = try bench.conflict(of: record) {
          errors.append((index, conflict))
          continue
        }
        try bench.save(record, from: before)
      }
      return errors
    }
  }

  private func passwordImport(_ users: [JSON], _ fields: IdentityFields) throws(AccountError) -> PasswordImport? {
    // Rows of this server's own exports say it for themselves.
    let isNeeded = users.contains {
      ($0["passwordHash"]?.string ?? "").isEmpty == false && IdentityFields($0)["hashConfig"] == nil
        && emulatorPassword(of: $0) == nil
    }
    guard isNeeded || fields["hashAlgorithm"] != nil else { return nil }
    do throws(PasswordImportError) {
      return try PasswordImport(fields.json)
    } catch {
      throw AccountError(wire: error.description)
    }
  }

  /// A password that is not hashed yet; nil if there is none.
  private func rawPassword(of user: JSON) throws(AccountError) -> String? {
    guard (user["passwordHash"]?.string ?? "").isEmpty else { return emulatorPassword(of: user) }
    return try IdentityFields(user).text("rawPassword")
  }

  /// What Firebase's emulator writes in the place of a hash into what it exports: `fakeHash:salt=SALT:password=PASSWORD`. In
  /// development only: it is no hash.
  private func emulatorPassword(of user: JSON) -> String? {
    guard options.isDevelopment, let text = user["passwordHash"]?.string else { return nil }
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "fakeHash", parts[1].hasPrefix("salt="), parts[2].hasPrefix("password=") else {
      return nil
    }
    return String(parts[2].dropFirst("password=".count))
  }

  /// One call may not say two things of one account, unless it says that the last counts.
  private static func checkUIDs(_ users: [JSON]) throws(AccountError) {
    var uids: Set<String> = []
    for user in users {
      if let uid = user["localId"]?.string, !uids.insert(uid).inserted { throw AccountError("DUPLICATE_LOCAL_ID", uid) }
    }
  }

  private static func checkDuplicates(_ users: [JSON]) throws(AccountError) {
    var emails: Set<String> = []
    var rawIDs: Set<String> = []
    for user in users {
      if let email = user["email"]?.string.map({ $0.lowercased() }), !emails.insert(email).inserted {
        throw AccountError("DUPLICATE_EMAIL", email)
      }
      for provider in user["providerUserInfo"]?.array ?? [] {
        guard let id = provider["providerId"]?.string, let rawID = provider["rawId"]?.string else { continue }
        if !rawIDs.insert("\(id):\(rawID)").inserted {
          throw AccountError("DUPLICATE_RAW_ID", "Provider id(\(id)), Raw id(\(rawID))")
        }
      }
    }
  }
}

extension AccountTransaction {
  /// Whether somebody else has what an imported account claims; in words for its row of the answer.
  func conflict(of record: AccountRecord) throws(AccountError) -> String? {
    for identifier in record.identifiers {
      guard let owner = try account(identifier), owner.uid != record.uid else { continue }
      switch identifier.kind {
      case "email":
        if try settings.allowsDuplicateEmails { continue }
        return "email exists in other account in database"
      case "phone": return "((duplicated phone number in database))"
      default: return "raw id exists in other account in database"
      }
    }
    return nil
  }
}
