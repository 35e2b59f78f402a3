import Credentials
package import StorageCore
import TreeModel

/// A page of accounts.
package struct AccountPage: Sendable {
  package var accounts: [AccountRecord]
  /// The uid after which the next page begins; nil if this is the last page.
  package var next: String?

  package init(accounts: [AccountRecord], next: String? = nil) {
    self.accounts = accounts
    self.next = next
  }
}

/// Which accounts an administrator looks for.
package struct AccountQuery: Sendable {
  /// How many one query may name.
  package static let most = 1000

  package var uids: [String] = []
  package var identifiers: [AccountIdentifier] = []

  package init() {}

  /// How many are named.
  package var count: Int { uids.count + identifiers.count }
}

extension AccountService {
  // MARK: Looking

  /// A page of accounts by uid.
  package func page(of project: AccountProject, after uid: String?, limit: Int) throws -> AccountPage {
    try read { snapshot in try snapshot.page(of: project.scope, in: project.namespace, after: uid, limit: limit) }
  }

  /// A page of the accounts that a search finds, behind a place of an earlier page.
  package func search(_ search: AccountSearch, of project: AccountProject, from start: AccountSearch.Position?, limit: Int)
    throws -> AccountSearch.Page
  {
    try read { snapshot in try search.page(of: project, from: start, limit: limit, snapshot: snapshot) }
  }

  /// How many accounts a project has.
  package func count(of project: AccountProject) throws -> Int64 {
    try read { snapshot in
      func count(of tenant: String) throws -> Int64 {
        try snapshot.identifierCount(
          in: project.namespace, kind: AccountIdentifier.storedKind("", tenant: tenant))
      }
      if let tenant = project.scope.tenant { return try count(of: tenant) }
      var number = try snapshot.accountCount(in: project.namespace)
      guard project.scope == .project else { return number }
      for tenant in try snapshot.tenants(in: project.namespace) { number -= try count(of: tenant) }
      return number
    }
  }

  /// The first accounts by uid, without those that are skipped.
  package func accounts(of project: AccountProject, skipping offset: Int, limit: Int) throws -> [AccountRecord] {
    let found = try read { snapshot in
      try snapshot.page(of: project.scope, in: project.namespace, after: nil, limit: offset + limit)
    }
    return Array(found.accounts.dropFirst(offset))
  }

  /// The accounts that a query names, each once.
  package func accounts(_ query: AccountQuery, of project: AccountProject) throws -> [AccountRecord] {
    let (namespace, scope) = (project.namespace, project.scope)
    return try read { snapshot in
      var found: [AccountRecord] = []
      for uid in query.uids { if let record = try snapshot.account(uid, within: scope, in: namespace) { found.append(record) } }
      for one in query.identifiers {
        if let record = try snapshot.account(one, within: scope, in: namespace) { found.append(record) }
      }
      var seen: Set<ExactKey> = []
      return found.filter { seen.insert(ExactKey(text: $0.uid)).inserted }
    }
  }

  /// What rules see as `auth` when an account has signed in now, by its usual way; nil if there is no such account.
  package func auth(of uid: String, in project: AccountProject) throws -> AuthVariable? {
    guard let record = try account(uid, of: project) else { return nil }
    let signIn = SignIn(provider: record.signInProvider ?? "custom", time: clock.now() / 1000)
    let claims = TokenSubject(record).claims(of: signIn, project: project.name, at: clock.now())
    return AuthVariable(uid: record.uid, claims: claims)
  }

  /// The uid of the account that a mail address leads to; nil if none does.
  package func uid(ofEmail address: String, of project: AccountProject) throws -> String? {
    try account(.email(address.lowercased()), of: project)?.uid
  }

  // MARK: Making and changing

  /// Makes an account; it has no tokens.
  ///
  /// - `uid`: its name; nil for a fresh one.
  /// - `password`: in plain text.
  package func create(
    _ draft: AccountDraft, uid: AccountID? = nil, password: String? = nil, _ context: AccountContext
  ) async throws -> AccountRecord {
    let uid = uid?.text ?? newUID()
    var draft = draft
    draft.secondFactors = try draft.secondFactors.map { try SecondFactorDraft.checked($0, newID: newUID) }
    let hash = try await newHash(password, of: uid, context: context)
    return try await change(context.project, by: context.actor(for: uid)) { [draft] transaction in
      var record = AccountRecord(uid: uid, createdAt: transaction.time)
      try draft.fill(&record, at: transaction.time)
      if let hash { transaction.setPassword(hash, of: &record) }
      try transaction.save(&record, from: nil)
      return record
    }
  }

  /// Changes an account, as an administrator.
  package func update(
    _ uid: String, to draft: AccountDraft, edits: AccountEdits = AccountEdits(), _ context: AccountContext
  ) async throws -> UpdatedAccount {
    var draft = draft
    draft.secondFactors = try draft.secondFactors.map { try SecondFactorDraft.checked($0, newID: newUID) }
    let hash = try await newHash(edits.password, of: uid, context: context)
    let record = try await change(context.project, by: context.actor(for: uid)) { [draft] transaction in
      guard let before = try transaction.account(uid) else { throw AccountError.unknownAccount }
      var record = before
      if let hash { transaction.setPassword(hash, of: &record) }
      try draft.fill(&record, at: transaction.time)
      edits.apply(to: &record)
      if record.email != before.email { record.validSince = max(record.validSince ?? 0, transaction.seconds) }
      try transaction.save(&record, from: before, isRevoking: draft.validSince == transaction.seconds)
      return record
    }
    if hash != nil { throttle.clear(context.project.limitKey(record.email ?? record.uid)) }
    return UpdatedAccount(account: record)
  }

  private func newHash(_ password: String?, of uid: String, context: AccountContext) async throws -> String? {
    guard let password else { return nil }
    try settings(of: context.project).passwordPolicy.check(password)
    return try await hash(password, of: uid, for: context)
  }

  /// Disables or enables an account.
  package func setDisabled(_ isDisabled: Bool, uid: String, of project: AccountProject, by actor: Actor) async throws
    -> AccountRecord
  {
    try await edit(uid, of: project, by: actor) { record, _ in record.isDisabled = isDisabled }
  }

  /// Takes every second factor from an account, and ends its sessions: one of them may be on the lost telephone.
  package func removeSecondFactors(of uid: String, of project: AccountProject, by actor: Actor) async throws
    -> AccountRecord
  {
    try await edit(uid, of: project, by: actor) { record, seconds in
      record.secondFactors = []
      record.validSince = max(record.validSince ?? 0, seconds)
    }
  }

  private func edit(
    _ uid: String, of project: AccountProject, by actor: Actor,
    change: @escaping @Sendable (_ record: inout AccountRecord, _ seconds: Int64) -> Void
  ) async throws -> AccountRecord {
    try await self.change(project, by: actor) { transaction in
      guard let before = try transaction.account(uid) else { throw AccountError.unknownAccount }
      var record = before
      change(&record, transaction.seconds)
      try transaction.save(&record, from: before)
      return record
    }
  }

  /// Changes the settings of a project's accounts.
  ///
  /// - `edit`: runs on the writer, on the settings as they are then.
  package func changeSettings(
    of project: AccountProject, by actor: Actor, edit: @escaping @Sendable (AccountSettings) -> AccountSettings
  ) async throws {
    try await change(project.within(.project), by: actor) { transaction in
      transaction.put(.settings(AccountSettingsCodec.encode(edit(try transaction.settings))))
    }
  }

  // MARK: Removing

  /// Removes an account.
  ///
  /// - Throws: `AccountError/unknownAccount`
  package func remove(_ uid: String, of project: AccountProject, by actor: Actor) async throws {
    try await change(project, by: actor) { transaction in
      guard let record = try transaction.account(uid) else { throw AccountError.unknownAccount }
      try transaction.delete(record)
    }
  }

  /// Removes accounts.
  ///
  /// - `isForced`: whether those that are not disabled go too.
  /// - Returns: why some were not removed, by their index; accounts that do not exist are no error.
  package func remove(_ uids: [String], isForced: Bool, of project: AccountProject, by actor: Actor) async throws
    -> [(index: Int, error: AccountError)]
  {
    var errors: [(index: Int, error: AccountError)] = []
    // One commit each: events of a thousand deletions would exceed what one commit may cause.
    for (index, uid) in uids.enumerated() {
      let isRemoved = try await change(project, by: actor) { transaction in
        guard let record = try transaction.account(uid) else { return true }
        guard isForced || record.isDisabled else { return false }
        try transaction.delete(record)
        return true
      }
      if !isRemoved { errors.append((index, .notDisabled)) }
    }
    return errors
  }

  /// Removes every account; codes stay. Functions are told of each.
  package func removeAll(of project: AccountProject, by actor: Actor) async throws {
    var last: String?
    while true {
      let (page, next) = try read { snapshot in
        let stretch = try snapshot.stretch(of: project.scope, in: project.namespace, after: last, limit: 200)
        return (stretch.accounts, stretch.next)
      }
      try await change(project, by: actor) { transaction in
        for one in page {
          if let record = try transaction.account(one.uid) { try transaction.delete(record) }
        }
      }
      guard let next else { return }
      last = next
    }
  }

  // MARK: As a part of a larger change

  /// Disables an account as part of a larger request; without the account it does nothing.
  package func disabling(_ uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { transaction in
      guard let before = try transaction.account(uid), !before.isDisabled else { return }
      var record = before
      record.isDisabled = true
      try transaction.save(&record, from: before)
    }
  }

  /// How many identities of an account would be remembered if it were deleted now: none of one that no reward was paid for.
  package func rememberedIdentities(of record: AccountRecord, in namespace: NamespaceID, snapshot: any Snapshot)
    throws -> Int
  {
    guard let identities = options.identities, options.paidIdentityLifetime != nil,
      try snapshot.record(in: namespace, kind: PaidRewards.playerKind, key: record.uid) != nil
    else { return 0 }
    return identities.hashes(of: record).count
  }

  /// Removes an account on the writer as part of a larger request; without the account it does nothing.
  package func removal(of uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { transaction in
      guard let record = try transaction.account(uid) else { return }
      try transaction.delete(record)
    }
  }
}

extension AccountRecord {
  /// Every mail address that is known as the player's, once.
  package var addresses: [String] {
    let all = [email, initialEmail].compactMap(\.self) + providers.compactMap(\.email)
    return Set(all).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
