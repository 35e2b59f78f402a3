package import RewardModel
package import StorageCore

/// Where a listing of entries begins, and which way it goes.
package enum EntryPosition: Sendable, Hashable {
  /// Newest first, those before this sequence; nil begins with the last.
  case before(Int64?)
  /// Oldest first, those after this sequence.
  case after(Int64)
}

/// Goes through the entries of a namespace, or of one account, and shows all of them or those of one code.
///
/// Entries are found by their sequences; a code is no index, so a walk that looks for one stops after ``scanMax`` entries and
/// says where to go on.
package struct EntryWalk {
  /// Entries that one page looks at.
  package static let scanMax = 5000
  private static let chunk = 500

  /// An entry, and what became of it.
  package struct Row: Sendable, Hashable {
    package let entry: LedgerEntry
    /// The entry that took it back; nil if none did.
    package let reversedBy: Int64?
  }

  /// A page of them.
  package struct Page: Sendable {
    package fileprivate(set) var rows: [Row] = []
    /// How many entries were looked at.
    package fileprivate(set) var scanned = 0
    /// The sequence to go on behind; nil at the end.
    package fileprivate(set) var next: Int64?
  }

  private let namespace: NamespaceID
  private let account: LedgerAccount?
  private let code: String?

  /// - `account`: nil for those of all accounts.
  /// - `code`: nil for those of every code.
  package init(in namespace: NamespaceID, account: LedgerAccount? = nil, code: String? = nil) {
    self.namespace = namespace
    self.account = account
    self.code = code
  }

  /// A page of at most `limit` rows.
  package func page(from start: EntryPosition, limit: Int, snapshot: any Snapshot) throws -> Page {
    var page = Page()
    var position = start
    while true {
      let wanted = code == nil ? limit : min(Self.chunk, Self.scanMax - page.scanned)
      let entries = try entries(from: position, limit: wanted, snapshot: snapshot)
      for entry in entries {
        page.scanned += 1
        position = start.moved(to: entry.sequence)
        if let code, !entry.transfer.code.utf8.elementsEqual(code.utf8) { continue }
        let isReversal = entry.transfer.reverses != nil
        page.rows.append(
          Row(
            entry: entry,
            reversedBy: isReversal ? nil : try snapshot.reversal(in: namespace, of: entry.sequence)?.sequence))
        guard page.rows.count < limit else {
          page.next = entry.sequence
          return page
        }
      }
      guard entries.count == wanted, let last = entries.last else { return page }
      guard page.scanned < Self.scanMax else {
        page.next = last.sequence
        return page
      }
    }
  }

  private func entries(from position: EntryPosition, limit: Int, snapshot: any Snapshot) throws -> [LedgerEntry] {
    switch (position, account) {
    case (.before(let sequence), nil): try snapshot.entries(in: namespace, before: sequence, limit: limit)
    case (.after(let sequence), nil): try snapshot.entries(in: namespace, after: sequence, limit: limit)
    case (.before(let sequence), let account?):
      try snapshot.entries(in: namespace, account: account, before: sequence, limit: limit)
    case (.after(let sequence), let account?):
      try snapshot.entries(in: namespace, account: account, after: sequence, limit: limit)
    }
  }
}

extension EntryPosition {
  /// The same way, from another place.
  fileprivate func moved(to sequence: Int64) -> EntryPosition {
    switch self {
    case .before: .before(sequence)
    case .after: .after(sequence)
    }
  }
}
