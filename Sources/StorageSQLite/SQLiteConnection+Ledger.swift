internal import RewardModel
internal import StorageCore

extension SQLiteConnection {
  func entry(_ ns: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try statement(.entry).bind(ns.rawValue).bind(sequence).first(Self.entry)
  }

  func entry(_ ns: NamespaceID, key: String) throws(StorageError) -> LedgerEntry? {
    try statement(.entryByKey).bind(ns.rawValue).bind(key).first(Self.entry)
  }

  func reversal(_ ns: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try statement(.entryByReversal).bind(ns.rawValue).bind(sequence).first(Self.entry)
  }

  func entries(_ ns: NamespaceID, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry] {
    try statement(.entries).bind(ns.rawValue).bind(sequence).all(limit: limit, Self.entry)
  }

  func entries(_ ns: NamespaceID, account: String, before sequence: Int64?, limit: Int) throws(StorageError) -> [LedgerEntry] {
    let sequences = try statement(.entriesOfAccount).bind(ns.rawValue).bind(account).bind(sequence ?? Int64.max)
      .all(limit: limit) { row throws(StorageError) in row.int(0) }
    var entries: [LedgerEntry] = []
    for sequence in sequences {
      guard let entry = try entry(ns, sequence: sequence) else { throw damaged("ledger entry \(sequence)") }
      entries.append(entry)
    }
    return entries
  }

  func balance(_ ns: NamespaceID, of account: String, unit: String) throws(StorageError) -> Int64? {
    try statement(.balance).bind(ns.rawValue).bind(account).bind(unit).first { row throws(StorageError) in row.int(0) }
  }

  func balances(_ ns: NamespaceID) throws(StorageError) -> [AccountBalance] {
    try statement(.balances).bind(ns.rawValue).all { row throws(StorageError) in
      AccountBalance(account: LedgerAccount(try row.text(0)), unit: try row.text(1), balance: row.int(2))
    }
  }

  private static func entry(_ row: SQLiteStatement) throws(StorageError) -> LedgerEntry {
    let transfer = LedgerTransfer(
      debit: LedgerAccount(try row.text(3)), credit: LedgerAccount(try row.text(4)), amount: row.int(5),
      unit: try row.text(6), code: try row.text(7), key: BusinessKey(try row.text(8)), event: try row.optionalText(9),
      function: try row.optionalText(10), subject: try row.optionalText(11), reverses: row.optionalInt(12),
      reason: try row.optionalText(13), allowsNegative: row.int(15) != 0, expiresAt: row.optionalInt(14))
    return LedgerEntry(
      sequence: row.int(0), revision: row.int(1), time: row.int(2), transfer: transfer, debitAfter: row.int(16),
      creditAfter: row.int(17), previousHash: row.bytes(18), hash: row.bytes(19))
  }
}
