package import RewardModel
package import StorageCore

/// Where a listing of entries begins, and which way it goes.
package enum EntryPosition: Sendable, Hashable {
  /// Newest first, those before this sequence; nil begins with the last.
  case before(Int64?)
  /// Oldest first, those after this sequence.
  case after(Int64)
}

/// Goes through the entries of a namespace, or of one account, and shows all of them, those of one code, or those of a time.
///
/// Entries are found by their sequences, and so are those of a time: sequences grow with the commits. A code is no index, so a walk that looks for one stops after ``scanMax`` entries and
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
  private let times: ClosedRange<Int64>?

  /// - `account`: nil for those of all accounts.
  /// - `code`: nil for those of every code.
  /// - `times`: when their commits were made, in milliseconds since 1970; nil for those of all times.
  package init(
    in namespace: NamespaceID, account: LedgerAccount? = nil, code: String? = nil, times: ClosedRange<Int64>? = nil
  ) {
    self.namespace = namespace
    self.account = account
    self.code = code
    self.times = times
  }

  /// A page of at most `limit` rows.
  package func page(from start: EntryPosition, limit: Int, snapshot: any Snapshot) throws -> Page {
    var page = Page()
    let span = try span(in: snapshot)
    var position = start.kept(in: span)
    while true {
      let wanted = code == nil ? limit : min(Self.chunk, Self.scanMax - page.scanned)
      let entries = try entries(from: position, limit: wanted, snapshot: snapshot)
      for entry in entries {
        guard span.contains(entry.sequence) else { return page }
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

  /// The sequences that may be shown.
  private func span(in snapshot: any Snapshot) throws -> Range<Int64> {
    guard let times else { return 0..<Int64.max }
    let first = try snapshot.firstEntry(
      in: namespace, since: try snapshot.lastRevision(in: namespace, before: times.lowerBound).next)
    let end = try snapshot.firstEntry(
      in: namespace, since: try snapshot.revision(in: namespace, at: times.upperBound).next)
    return first..<max(first, end)
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
  /// The same way, from a place where it meets a span at once.
  fileprivate func kept(in span: Range<Int64>) -> EntryPosition {
    switch self {
    case .before(let sequence): .before(span.upperBound == .max ? sequence : min(sequence ?? .max, span.upperBound))
    case .after(let sequence): .after(max(sequence, span.lowerBound - 1))
    }
  }

  /// The same way, from another place.
  fileprivate func moved(to sequence: Int64) -> EntryPosition {
    switch self {
    case .before: .before(sequence)
    case .after: .after(sequence)
    }
  }
}
