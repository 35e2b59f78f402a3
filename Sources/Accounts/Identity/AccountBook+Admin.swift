import Credentials
public import StorageCore
public import TreeModel

/// What administrators' tools call (spec: auth-protocol §2.7).
extension AccountBook {
  /// `GET accounts:batchGet`: a page of accounts by uid, with their hashes.
  public func batchGet(_ call: IdentityCall) throws(AccountError) -> JSON {
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
  public func batchDelete(_ call: IdentityCall) async throws(AccountError) -> JSON {
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
  public func query(_ call: IdentityCall) throws(AccountError) -> JSON {
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

  // MARK: Configuration

  /// The configuration as administrators read it (`/v2/projects/{p}/config`).
  public func configuration(of project: AccountProject) throws(AccountError) -> JSON {
    let own: [JSON.Member] = [JSON.Member(key: "name", value: .string("projects/\(project.number)/config"))]
    var settings = try settings(of: project)
    settings.secondFactors = try secondFactorPolicy(of: project)
    return .object(own + (settings.json.object ?? []))
  }

  /// The two settings that emulators know (`/emulator/v1/projects/{p}/config`).
  public func emulatorConfiguration(of project: AccountProject) throws(AccountError) -> JSON {
    let settings = try settings(of: project)
    return [
      "signIn": ["allowDuplicateEmails": .bool(settings.allowsDuplicateEmails)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)],
    ]
  }

  /// Changes the configuration: an empty mask replaces it, otherwise what the mask names is taken from the body.
  ///
  /// - Parameter merges: whether what the body does not say stays, whatever the mask (emulators' own address).
  public func configure(_ call: IdentityCall, mask: [String], merges: Bool) async throws(AccountError) {
    let body = call.fields.json
    guard body.object != nil else { throw .invalidArgument("The configuration must be a JSON object.") }
    // The deepest setting lies four levels down.
    guard mask.allSatisfy({ $0.utf8.count <= 200 && $0.split(separator: ".").count <= 8 }) else {
      throw .invalidArgument("A field path of updateMask is too long.")
    }
    try await change(call.project, by: call.actor) { (bench) throws(AccountError) in
      let current = try bench.settings.json
      var next: JSON = .object([])
      if merges || !mask.isEmpty { next = current }
      if merges {
        next = next.merging(body)
      } else if mask.isEmpty {
        next = body
      } else {
        for path in mask {
          let keys = path.split(separator: ".").map(Self.camel)
          next = next.setting(keys[...], to: body.at(keys[...]))
        }
      }
      bench.put(.settings(AccountSettings(next).json))
    }
  }

  private static func camel(_ name: Substring) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  /// The password policy as clients read it (`/v2/passwordPolicy`).
  public func passwordPolicy(of project: AccountProject) throws(AccountError) -> JSON {
    try settings(of: project).passwordPolicy.clientJSON
  }

  /// `GET /v1/projects`: what clients are told of their project.
  public func clientConfiguration(of project: AccountProject) -> JSON {
    let local = options.isDevelopment ? ["localhost", "127.0.0.1"] : []
    let domains = local + options.authorizedDomains.subtracting(local).sorted()
    return ["projectId": .string(project.number), "authorizedDomains": .array(domains.map(JSON.string))]
  }

  // MARK: Emulators' own

  /// Every account goes; codes stay (spec: auth-protocol §2.8). Tells functions of each.
  public func deleteAll(_ project: AccountProject, by actor: StorageCore.Actor) async throws(AccountError) {
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
  public func mailedCodes(of project: AccountProject) -> JSON {
    let letters = postbox.letters(of: project.name).map { letter in
      JSON(fields: [
        ("email", .string(letter.email)), ("requestType", .string(letter.kind)), ("oobCode", .string(letter.code)),
        ("oobLink", .string(letter.link)), ("newEmail", letter.newEmail.map(JSON.string)),
      ])
    }
    return ["oobCodes": .array(letters)]
  }

  /// The codes that went to phones.
  public func phoneCodes(of project: AccountProject) -> JSON {
    let codes = postbox.phoneCodes(of: project.name, at: clock.now()).map { code -> JSON in
      ["phoneNumber": .string(code.phoneNumber), "sessionInfo": .string(code.session), "code": .string(code.code)]
    }
    return ["verificationCodes": .array(codes)]
  }
}

extension JSON {
  /// This object with the members of another in the place of its own, at every depth.
  fileprivate func merging(_ other: JSON) -> JSON {
    guard var members = object, let others = other.object else { return other }
    for member in others {
      if let index = members.firstIndex(where: { $0.key == member.key }) {
        members[index] = Member(key: member.key, value: members[index].value.merging(member.value))
      } else {
        members.append(member)
      }
    }
    return .object(members)
  }

  fileprivate func at(_ keys: ArraySlice<String>) -> JSON? {
    guard let first = keys.first else { return self }
    return self[first]?.at(keys.dropFirst())
  }

  fileprivate func setting(_ keys: ArraySlice<String>, to value: JSON?) -> JSON {
    guard let first = keys.first else { return value ?? .null }
    var members = (object ?? []).filter { $0.key != first }
    if keys.count > 1 || value != nil {
      members.append(Member(key: first, value: (self[first] ?? .object([])).setting(keys.dropFirst(), to: value)))
    }
    return .object(members)
  }
}
