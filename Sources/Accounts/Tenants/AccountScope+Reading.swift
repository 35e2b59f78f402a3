import StorageCore

/// Accounts and settings as they are within a scope, in a snapshot and on the writer alike.
extension AccountReading {
  /// An account; nil if there is none within the scope.
  func account(_ uid: String, within scope: AccountScope, in namespace: NamespaceID) throws -> AccountRecord? {
    try account(in: namespace, uid: uid).flatMap { scope.admits($0.tenant) ? $0 : nil }
  }

  /// The account that an identifier leads to within the scope; nil if there is none.
  func account(_ identifier: AccountIdentifier, within scope: AccountScope, in namespace: NamespaceID) throws -> AccountRecord?
  {
    try account(in: namespace, identifier: identifier.within(scope.tenant)).flatMap { scope.admits($0.tenant) ? $0 : nil }
  }
}

extension AccountReading where Self: StorageReading {
  /// A tenant; nil if there is none, or none any more.
  func tenant(_ id: TenantID, in namespace: NamespaceID) throws -> AccountTenant? {
    let stored = try record(in: namespace, kind: AccountTenant.kind, key: id.text)
    return stored.flatMap { AccountTenant(id, stored: $0) }.flatMap { $0.isLeaving ? nil : $0 }
  }

  /// What is set for the accounts of a scope.
  ///
  /// - Throws: `AccountError/unknownTenant`
  func accountSettings(within scope: AccountScope, in namespace: NamespaceID) throws -> AccountSettings {
    let row = try accountRow(in: namespace, key: .settings)
    var settings = AccountSettings()
    if case .settings(let json)? = row { settings = AccountSettingsCodec.decode(json) }
    guard case .tenant(let id) = scope else { return settings }
    guard let tenant = try tenant(id, in: namespace) else { throw AccountError.unknownTenant }
    return tenant.settings(within: settings)
  }
}

/// A stretch of a listing of accounts.
struct AccountStretch {
  /// The uids that were looked at, with the accounts of those that are within the scope.
  let rows: [(uid: String, record: AccountRecord?)]
  /// Where to go on; nil at the end.
  let next: String?

  /// Those of the scope.
  var accounts: [AccountRecord] { rows.compactMap(\.record) }
}

extension AccountListing {
  /// Looks at some accounts of a scope by uid, behind the one given: of a tenant at its own, else at all.
  func stretch(of scope: AccountScope, in namespace: NamespaceID, after uid: String?, limit: Int) throws -> AccountStretch {
    guard let tenant = scope.tenant else {
      let all = try accounts(in: namespace, after: uid, limit: limit)
      return AccountStretch(
        rows: all.map { ($0.uid, scope.admits($0.tenant) ? $0 : nil) }, next: all.count == limit ? all.last?.uid : nil)
    }
    let members = AccountIdentifier.storedKind("", tenant: tenant)
    let found = try identifiers(in: namespace, kind: members, after: uid, limit: limit)
    let rows = try found.map { (_, uid) in (uid: uid, record: try account(in: namespace, uid: uid)) }
    return AccountStretch(rows: rows, next: found.count == limit ? found.last?.uid : nil)
  }

  /// A page of a scope's accounts by uid: at most `limit`, and fewer where many of others lie between.
  func page(of scope: AccountScope, in namespace: NamespaceID, after uid: String?, limit: Int) throws -> AccountPage {
    var page = AccountPage(accounts: [], next: uid)
    for _ in 0..<Self.stretchesMax {
      let stretch = try stretch(of: scope, in: namespace, after: page.next, limit: limit - page.accounts.count)
      page.accounts += stretch.accounts
      page.next = stretch.next
      if page.next == nil || page.accounts.count >= limit { break }
    }
    return page
  }

  /// Stretches that one page looks at.
  private static var stretchesMax: Int { 100 }
}
