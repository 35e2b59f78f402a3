import APISupport
import Accounts
import Credentials
import StorageCore
import TreeModel

/// What administrators' tools call: `accounts:batchCreate`, `:batchGet`, `:batchDelete`, `:query`; and what emulators have.
enum AdministratorCalls {
  // MARK: Importing

  /// `accounts:batchCreate`: rows that cannot be taken are named in the answer, the others are stored.
  ///
  /// Functions see nothing of it, for the players are not new, unless the body says `"triggers": true` (which is this
  /// server's own).
  static func batchCreate(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let fields = call.fields
    let users = try fields.list("users") ?? []
    guard !users.isEmpty else { throw IdentityError("MISSING_USER_ACCOUNT") }
    guard users.count <= AccountImporter.most else {
      throw IdentityError.invalidArgument("At most 1000 accounts are imported at once.")
    }
    let overwriting = try fields.bool("allowOverwrite") ?? !accounts.options.followsEmulator
    let saysOverwriting = try fields.bool("allowOverwrite") == true
    let triggers = try fields.bool("triggers") ?? false
    if !saysOverwriting { try checkUIDs(users) }
    if try fields.bool("sanityCheck") ?? false { try checkDuplicates(users) }
    let isDevelopment = accounts.options.isDevelopment
    let hashing = try passwordImport(users, fields: fields, isDevelopment: isDevelopment)
    var errors: [(index: Int, message: String)] = []
    var rows: [(index: Int, account: ImportedAccount)] = []
    for (index, user) in users.enumerated() {
      do {
        try checkTenant(of: user, is: call.project.scope.tenant)
        rows.append((index, try imported(user, hashing: hashing, isDevelopment: isDevelopment)))
      } catch {
        errors.append((index, IdentityError(error).message))
      }
    }
    let refused = try await accounts.importer.store(
      rows, overwrites: overwriting, triggers: triggers, context: call.context)
    errors += refused.map { ($0.index, IdentityError($0.error).message) }
    let list = errors.sorted { $0.index < $1.index }.map { error -> JSON in
      ["index": .int(Int64(error.index)), "message": .string(error.message)]
    }
    return JSON(fields: [
      ("kind", "identitytoolkit#UploadAccountResponse"), ("error", list.isEmpty ? nil : .array(list)),
    ])
  }

  /// A row that says of which tenant it is goes to no other.
  private static func checkTenant(of user: JSON, is tenant: String?) throws {
    guard let own = try IdentityFields(user).text("tenantId"), !own.isEmpty, own != tenant else { return }
    throw IdentityError.wire("Tenant id in userInfo does not match the tenant id in request.")
  }

  private static func imported(_ user: JSON, hashing: PasswordImport?, isDevelopment: Bool) throws -> ImportedAccount {
    let fields = IdentityFields(user)
    let plain = try rawPassword(of: user, isDevelopment: isDevelopment)
    var account = try fields.importedAccount()
    if let plain {
      account.password = .plain(plain)
    } else if let hash = try fields.importedHash(hashing) {
      account.password = .hashed(hash)
    }
    return account
  }

  private static func passwordImport(_ users: [JSON], fields: IdentityFields, isDevelopment: Bool) throws
    -> PasswordImport?
  {
    // Rows of this server's own exports say it for themselves.
    let isNeeded = users.contains {
      ($0["passwordHash"]?.string ?? "").isEmpty == false && IdentityFields($0)["hashConfig"] == nil
        && emulatorPassword(of: $0, isDevelopment: isDevelopment) == nil
    }
    guard isNeeded || fields["hashAlgorithm"] != nil else { return nil }
    do {
      return try PasswordImport(fields.json)
    } catch {
      throw IdentityError(error)
    }
  }

  /// A password that is not hashed yet; nil if there is none.
  private static func rawPassword(of user: JSON, isDevelopment: Bool) throws -> String? {
    guard (user["passwordHash"]?.string ?? "").isEmpty else {
      return emulatorPassword(of: user, isDevelopment: isDevelopment)
    }
    return try IdentityFields(user).text("rawPassword")
  }

  /// What Firebase's emulator writes in the place of a hash into what it exports: `fakeHash:salt=SALT:password=PASSWORD`. In
  /// development only: it is no hash.
  private static func emulatorPassword(of user: JSON, isDevelopment: Bool) -> String? {
    guard isDevelopment, let text = user["passwordHash"]?.string else { return nil }
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "fakeHash", parts[1].hasPrefix("salt="), parts[2].hasPrefix("password=") else {
      return nil
    }
    return String(parts[2].dropFirst("password=".count))
  }

  /// One call may not say two things of one account, unless it says that the last counts.
  private static func checkUIDs(_ users: [JSON]) throws {
    var uids: Set<String> = []
    for user in users {
      if let uid = user["localId"]?.string, !uids.insert(uid).inserted { throw IdentityError("DUPLICATE_LOCAL_ID", uid) }
    }
  }

  private static func checkDuplicates(_ users: [JSON]) throws {
    var emails: Set<String> = []
    var rawIDs: Set<String> = []
    for user in users {
      if let email = user["email"]?.string.map({ $0.lowercased() }), !emails.insert(email).inserted {
        throw IdentityError("DUPLICATE_EMAIL", email)
      }
      for provider in user["providerUserInfo"]?.array ?? [] {
        guard let id = provider["providerId"]?.string, let rawID = provider["rawId"]?.string else { continue }
        if !rawIDs.insert("\(id):\(rawID)").inserted {
          throw IdentityError("DUPLICATE_RAW_ID", "Provider id(\(id)), Raw id(\(rawID))")
        }
      }
    }
  }

  // MARK: Reading and removing

  /// `GET accounts:batchGet`: a page of accounts by uid, with their hashes.
  static func batchGet(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    let asked = try call.fields.int("maxResults") ?? 20
    guard asked == -1 || (0...1000).contains(asked) else { throw IdentityError("INVALID_PAGE_SELECTION") }
    let limit = asked == -1 ? 100_000 : asked == 0 ? 20 : Int(asked)
    let last = try call.fields.text("nextPageToken")
    let page = try accounts.page(of: call.project, after: last.flatMap { $0.isEmpty ? nil : $0 }, limit: limit)
    return JSON(fields: [
      ("kind", "identitytoolkit#DownloadAccountResponse"), ("users", .array(page.accounts.map(AccountJSON.exported))),
      ("nextPageToken", page.next.map(JSON.string)),
    ])
  }

  /// `accounts:batchDelete`.
  static func batchDelete(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let uids = try call.fields.texts("localIds") ?? []
    guard (1...1000).contains(uids.count) else { throw IdentityError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
    let isForced = try call.fields.bool("force") ?? false
    let errors = try await accounts.remove(uids, isForced: isForced, of: call.project, by: call.actor)
    let list = errors.map { index, error -> JSON in
      [
        "index": .int(Int64(index)), "localId": .string(uids[index]), "message": .string(IdentityError(error).message),
      ]
    }
    return JSON(fields: [("errors", list.isEmpty ? nil : .array(list))])
  }

  /// `accounts:query`: how many accounts there are, and if asked, which.
  static func query(_ accounts: AccountService, _ call: IdentityCall) throws -> JSON {
    let fields = call.fields
    let returnsUsers = try fields.bool("returnUserInfo") ?? true
    if fields["expression"] != nil {
      throw IdentityError.notImplemented("accounts:query with an expression is not supported; use accounts:lookup.")
    }
    guard returnsUsers else { return ["recordsCount": .string(String(try accounts.count(of: call.project)))] }
    let limit = try fields.int("limit") ?? 500
    let offset = try fields.int("offset") ?? 0
    guard (1...500).contains(limit), (0...100_000).contains(offset) else { throw IdentityError("INVALID_PAGE_SELECTION") }
    let users = try accounts.accounts(of: call.project, skipping: Int(offset), limit: Int(limit))
    return ["recordsCount": .string(String(users.count)), "userInfo": .array(users.map { AccountJSON.administrators($0) })]
  }

  // MARK: Emulators

  /// The codes that were mailed.
  static func mailedCodes(_ accounts: AccountService, of project: AccountProject) -> JSON {
    let codes = accounts.emailCodes.mailed(of: project).map { code in
      JSON(fields: [
        ("email", .string(code.email)), ("requestType", .string(code.kind)), ("oobCode", .string(code.code)),
        ("oobLink", .string(code.link)), ("newEmail", code.newEmail.map(JSON.string)),
      ])
    }
    return ["oobCodes": .array(codes)]
  }

  /// The codes that went to phones.
  static func phoneCodes(_ accounts: AccountService, of project: AccountProject) -> JSON {
    let codes = accounts.phones.sent(of: project).map { code -> JSON in
      ["phoneNumber": .string(code.phoneNumber), "sessionInfo": .string(code.session), "code": .string(code.code)]
    }
    return ["verificationCodes": .array(codes)]
  }
}
