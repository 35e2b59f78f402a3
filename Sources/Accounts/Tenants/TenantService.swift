package import StorageCore

/// The tenants of a project: who there is, and what is set for each.
package struct TenantService: Sendable {
  /// How many a project may have.
  package static let most = 1000
  /// How many names are drawn for a new one until it has to be given up.
  private static let drawsMax = 10

  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  // MARK: Looking

  /// A tenant.
  ///
  /// - Throws: `AccountError/unknownTenant`
  package func tenant(_ id: TenantID, of project: AccountProject) throws -> AccountTenant {
    guard let tenant = try accounts.read({ try $0.tenant(id, in: project.namespace) }) else { throw AccountError.unknownTenant }
    return tenant
  }

  /// Tenants by their names, behind the one given.
  package func page(of project: AccountProject, after last: String?, limit: Int) throws -> [AccountTenant] {
    try accounts.read { snapshot in
      var (page, last) = ([AccountTenant](), last)
      // Those that are being deleted are passed over, so that a page is short only where the list ends.
      while page.count < limit {
        let wanted = limit - page.count
        let records = try snapshot.records(
          in: project.namespace, kind: AccountTenant.kind, after: last, isDescending: false, limit: wanted)
        let tenants = records.compactMap { record in TenantID(record.key).flatMap { AccountTenant($0, stored: record.value) } }
        page += tenants.filter { !$0.isLeaving }
        guard records.count == wanted else { break }
        last = records.last?.key
      }
      return page
    }
  }

  /// The scope of a tenant that a request names, by its path, its body or its token.
  ///
  /// - Throws: `AccountError/tenantsOff`, `AccountError/unknownTenant`, `AccountError/disabledTenant`
  package func scope(of name: String, in project: AccountProject) async throws -> AccountScope {
    guard let id = TenantID(name) else { throw AccountError.unknownTenant }
    try checkAllowed(in: project)
    let tenant = try await known(id, of: project)
    guard !tenant.isDisabled else { throw AccountError.disabledTenant }
    return .tenant(id)
  }

  /// A tenant that a request names; in development it comes into being then, as in Firebase's emulator.
  package func known(_ id: TenantID, of project: AccountProject) async throws -> AccountTenant {
    guard accounts.options.isDevelopment else { return try tenant(id, of: project) }
    if let tenant = try accounts.read({ try $0.tenant(id, in: project.namespace) }) { return tenant }
    try checkRoom(in: project)
    return try await change(project, by: .system("accounts")) { transaction in
      if let tenant = try Self.tenant(id, on: transaction) { return tenant }
      let tenant = AccountTenant.inDevelopment(id)
      Self.put(tenant, on: transaction)
      return tenant
    }
  }

  /// Refuses everything about tenants where the project's configuration does not allow them. Development does not ask.
  package func checkAllowed(in project: AccountProject) throws {
    guard !accounts.options.isDevelopment, try !accounts.settings(of: project.within(.project)).allowsTenants else { return }
    throw AccountError.tenantsOff
  }

  // MARK: Changing

  /// Makes a tenant under a fresh name, which begins with its display name.
  package func create(
    of project: AccountProject, by actor: Actor, edit: @escaping @Sendable (inout AccountTenant) throws -> Void
  ) async throws -> AccountTenant {
    try checkAllowed(in: project)
    try checkRoom(in: project)
    guard let trial = TenantID("trial") else { throw AccountError.unknownTenant }
    var named = AccountTenant(trial)
    try edit(&named)
    for _ in 0..<Self.drawsMax {
      guard let id = newID(for: named.displayName) else { continue }
      let made = try await change(project, by: actor) { transaction -> AccountTenant? in
        guard try Self.stored(id, on: transaction) == nil else { return nil }
        var tenant = AccountTenant(id)
        try edit(&tenant)
        Self.put(tenant, on: transaction)
        return tenant
      }
      if let made { return made }
    }
    throw AccountError.concurrentChange
  }

  /// Changes a tenant.
  ///
  /// - `edit`: runs on the writer, on the tenant as it is then.
  /// - Throws: `AccountError/unknownTenant`
  package func update(
    _ id: TenantID, of project: AccountProject, by actor: Actor,
    edit: @escaping @Sendable (inout AccountTenant) throws -> Void
  ) async throws -> AccountTenant {
    try await change(project, by: actor) { transaction in
      guard var tenant = try Self.tenant(id, on: transaction) else { throw AccountError.unknownTenant }
      try edit(&tenant)
      Self.put(tenant, on: transaction)
      return tenant
    }
  }

  /// Removes a tenant with its accounts and its providers' configurations; functions are told of each account. Nobody comes
  /// meanwhile, and what a crash cut off goes on when it is asked for again.
  ///
  /// - Throws: `AccountError/unknownTenant`
  package func delete(_ id: TenantID, of project: AccountProject, by actor: Actor) async throws {
    try await change(project, by: actor) { transaction in
      guard var tenant = try Self.stored(id, on: transaction) else { throw AccountError.unknownTenant }
      tenant.isLeaving = true
      Self.put(tenant, on: transaction)
    }
    try await accounts.removeAll(of: project.within(.tenant(id)), by: actor)
    let configurations = try accounts.providers.keys(of: project.within(.tenant(id)))
    try await change(project, by: actor) { transaction in
      for key in configurations { transaction.putRecord(of: ProviderConfiguration.kind, key: key, value: nil) }
      transaction.putRecord(of: AccountTenant.kind, key: id.text, value: nil)
    }
  }

  private func change<Output: Sendable>(
    _ project: AccountProject, by actor: Actor, body: @escaping @Sendable (AccountTransaction) throws -> Output
  ) async throws -> Output {
    try await accounts.change(project.within(.project), by: actor, body: body)
  }

  /// A tenant that is not being deleted; nil if there is none.
  private static func tenant(_ id: TenantID, on transaction: AccountTransaction) throws -> AccountTenant? {
    try stored(id, on: transaction).flatMap { $0.isLeaving ? nil : $0 }
  }

  /// A tenant, also one that is being deleted.
  private static func stored(_ id: TenantID, on transaction: AccountTransaction) throws -> AccountTenant? {
    try transaction.keyedRecord(of: AccountTenant.kind, key: id.text).flatMap { AccountTenant(id, stored: $0) }
  }

  private static func put(_ tenant: AccountTenant, on transaction: AccountTransaction) {
    transaction.putRecord(of: AccountTenant.kind, key: tenant.id.text, value: tenant.storedText)
  }

  private func checkRoom(in project: AccountProject) throws {
    let count = try accounts.read { try $0.tenants(in: project.namespace).count }
    guard count < Self.most else {
      throw AccountError.rejected("A project has at most \(Self.most) tenants: delete one first.")
    }
  }

  private func newID(for displayName: String?) -> TenantID? {
    let letters = (displayName ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    let name = letters.first?.isLetter == true ? String(letters.prefix(20)) : "tenant"
    return TenantID("\(name)-\(accounts.newUID().prefix(8).lowercased())")
  }
}

extension KeyedRecordReading {
  /// The names of all tenants, those included that are being deleted.
  func tenants(in namespace: NamespaceID) throws -> [String] {
    try records(in: namespace, kind: AccountTenant.kind, after: nil, isDescending: false, limit: 2 * TenantService.most).map(
      \.key)
  }
}
