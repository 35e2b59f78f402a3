import Credentials
package import StorageCore
package import TreeModel

/// What administrators' tools call (spec: auth-protocol §2.7).
extension AccountService {
  /// `GET accounts:batchGet`: a page of accounts by uid, with their hashes.
  package func batchGet(_ call: IdentityCall) throws(AccountError) -> JSON {
    let asked = try call.fields.int("maxResults") ?? 20
    guard asked == -1 || (0...1000).contains(asked) else { throw AccountError("INVALID_PAGE_SELECTION") }
    let limit = asked == -1 ? 100_000 : asked == 0 ? 20 : Int(asked)
    let last = try call.fields.text("nextPageToken")
    let namespace = call.project.namespace
    let page = try look { (snapshot) throws(StorageError) in
      try snapshot.accounts(in: namespace, after: last.flatMap { $0.isEmpty ? nil : $0 }, limit: limit)
    }
    return JSON(fields: [
      ("kind", "identitytoolkit#DownloadAccountResponse"), ("users", .array(page.map(UserJSON.exported))),
      ("nextPageToken", page.count == limit ? page.last.map { .string($0.uid) } : nil),
    ])
  }

  /// `accounts:batchDelete`.
  package func batchDelete(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let uids = try call.fields.texts("localIds") ?? []
    guard (1...1000).contains(uids.count) else { throw AccountError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
    let isForced = try call.fields.bool("force") ?? false
    var errors: [JSON] = []
    // One commit each: events of a thousand deletions would exceed what one commit may cause.
    for (index, uid) in uids.enumerated() {
      let message = try await change(call.project, by: call.actor) { (bench) throws(AccountError) -> String? in
        guard let record = try bench.account(uid) else { return nil }
        guard isForced || record.isDisabled else { return "NOT_DISABLED : Disable the account before batch deletion." }
        try bench.delete(record)
        return nil
      }
      if let message { errors.append(["index": .int(Int64(index)), "localId": .string(uid), "message": .string(message)]) }
    }
    return JSON(fields: [("errors", errors.isEmpty ? nil : .array(errors))])
  }

  /// `accounts:query`: how many accounts there are, and if asked, which.
  package func query(_ call: IdentityCall) throws(AccountError) -> JSON {
    let fields = call.fields
    let namespace = call.project.namespace
    let returnsUsers = try fields.bool("returnUserInfo") ?? true
    if fields["expression"] != nil {
      throw .notImplemented("accounts:query with an expression is not supported; use accounts:lookup.")
    }
    guard returnsUsers else {
      let count = try look { (snapshot) throws(StorageError) in try snapshot.accountCount(in: namespace) }
      return ["recordsCount": .string(String(count))]
    }
    let limit = try fields.int("limit") ?? 500
    let offset = try fields.int("offset") ?? 0
    guard (1...500).contains(limit), (0...100_000).contains(offset) else { throw AccountError("INVALID_PAGE_SELECTION") }
    var users = try look { (snapshot) throws(StorageError) in
      try snapshot.accounts(in: namespace, after: nil, limit: Int(offset + limit))
    }
    users.removeFirst(min(Int(offset), users.count))
    return ["recordsCount": .string(String(users.count)), "userInfo": .array(users.map { UserJSON.administrators($0) })]
  }

  // MARK: Emulators' own

  /// Every account goes; codes stay (spec: auth-protocol §2.8). Tells functions of each.
  package func deleteAll(_ project: AccountProject, by actor: StorageCore.Actor) async throws(AccountError) {
    while true {
      let page = try look { (snapshot) throws(StorageError) in
        try snapshot.accounts(in: project.namespace, after: nil, limit: 200)
      }
      if page.isEmpty { return }
      try await change(project, by: actor) { (bench) throws(AccountError) in
        for one in page {
          if let record = try bench.account(one.uid) { try bench.delete(record) }
        }
      }
    }
  }

  /// The codes that were mailed.
  package func mailedCodes(of project: AccountProject) -> JSON {
    let letters = sentCodes.letters(of: project.name).map { letter in
      JSON(fields: [
        ("email", .string(letter.email)), ("requestType", .string(letter.kind)), ("oobCode", .string(letter.code)),
        ("oobLink", .string(letter.link)), ("newEmail", letter.newEmail.map(JSON.string)),
      ])
    }
    return ["oobCodes": .array(letters)]
  }

  /// The codes that went to phones.
  package func phoneCodes(of project: AccountProject) -> JSON {
    let codes = sentCodes.phoneCodes(of: project.name, at: clock.now()).map { code -> JSON in
      ["phoneNumber": .string(code.phoneNumber), "sessionInfo": .string(code.session), "code": .string(code.code)]
    }
    return ["verificationCodes": .array(codes)]
  }
}
