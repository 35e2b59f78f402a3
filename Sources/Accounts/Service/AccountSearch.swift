package import StorageCore

/// What an administrator looks for among a project's accounts.
package struct AccountSearch: Sendable, Hashable {
  /// A state of an account.
  package enum State: String, Sendable, Hashable {
    case disabled
    /// Not disabled.
    case enabled
    case anonymous
  }

  /// Where a search goes on. Texts are found first among the uids, then among the mail addresses.
  package enum Position: Sendable, Hashable {
    case afterUID(String)
    case afterEmail(String)
  }

  /// A page of what was found.
  package struct Page: Sendable {
    package fileprivate(set) var accounts: [AccountRecord] = []
    /// How many accounts were looked at.
    package fileprivate(set) var scanned = 0
    /// Where to go on; nil at the end.
    package fileprivate(set) var next: Position?
  }

  /// Accounts that one page looks at: neither providers nor states are an index.
  package static let scanMax = 2000
  private static let chunkSize = 200

  /// What the uid or the mail address begins with; nil for all accounts.
  package var text: String?
  /// Only accounts with an identity of this provider: `password`, `google.com`.
  package var provider: String?
  package var state: State?
  /// By their mail address instead of their uid, and only those who have one; the text is then what the address begins with.
  package var isByEmail: Bool

  package init(text: String? = nil, provider: String? = nil, state: State? = nil, isByEmail: Bool = false) {
    self.text = text
    self.provider = provider
    self.state = state
    self.isByEmail = isByEmail
  }

  private func admits(_ record: AccountRecord) -> Bool {
    if let provider, !record.providerIDs.contains(provider) { return false }
    switch state {
    case .disabled: return record.isDisabled
    case .enabled: return !record.isDisabled
    case .anonymous: return record.isAnonymous
    case nil: return true
    }
  }

  /// Whether an account was found by its uid before addresses were looked at.
  private func isFoundByUID(_ uid: String) -> Bool { !isByEmail && uid.utf8.starts(with: (text ?? "").utf8) }

  // MARK: Looking

  /// A page of at most `limit` accounts, behind `start`.
  func page(of project: AccountProject, from start: Position?, limit: Int, snapshot: any Snapshot) throws -> Page {
    var page = Page()
    var position = start ?? (isByEmail ? .afterEmail("") : nil)
    while true {
      var found = try chunk(from: position, of: project, snapshot: snapshot)
      for (place, record) in found.rows {
        page.scanned += 1
        position = place
        if let record, admits(record) { page.accounts.append(record) }
        guard page.accounts.count < limit, page.scanned < Self.scanMax else {
          page.next = place
          return page
        }
      }
      if found.isLast, text != nil, !found.isEmails {
        position = .afterEmail("")
        found.isLast = false
      }
      if found.isLast { return page }
    }
  }

  /// Some accounts in their order, each with its place; those that were found by their uid already are nil.
  private func chunk(from position: Position?, of project: AccountProject, snapshot: any Snapshot) throws
    -> (rows: [(Position, AccountRecord?)], isLast: Bool, isEmails: Bool)
  {
    let (text, namespace, scope) = (text ?? "", project.namespace, project.scope)
    if case .afterEmail(let last)? = position {
      let address = text.lowercased()
      var rows: [(Position, AccountRecord?)] = []
      if last.isEmpty, let record = try snapshot.account(.email(address), within: scope, in: namespace) {
        rows.append((.afterEmail(address), isFoundByUID(record.uid) ? nil : record))
      }
      let found = try snapshot.identifiers(
        in: namespace, kind: AccountIdentifier.storedKind("email", tenant: scope.tenant), after: last.isEmpty ? address : last,
        limit: Self.chunkSize)
      let fitting = found.prefix { $0.identifier.value.utf8.starts(with: address.utf8) }
      for (identifier, uid) in fitting {
        let record = isFoundByUID(uid) ? nil : try snapshot.account(in: namespace, uid: uid)
        rows.append((.afterEmail(identifier.value), record))
      }
      return (rows, fitting.count < Self.chunkSize, true)
    }
    var (rows, last): ([(Position, AccountRecord?)], String) = ([], text)
    if case .afterUID(let uid)? = position {
      last = uid
    } else if !text.isEmpty, let record = try snapshot.account(text, within: scope, in: namespace) {
      rows.append((.afterUID(text), record))
    }
    let found = try snapshot.stretch(of: scope, in: namespace, after: last, limit: Self.chunkSize)
    let fitting = found.rows.prefix { $0.uid.utf8.starts(with: text.utf8) }
    rows += fitting.map { (.afterUID($0.uid), $0.record) }
    return (rows, found.next == nil || fitting.count < found.rows.count, false)
  }
}
