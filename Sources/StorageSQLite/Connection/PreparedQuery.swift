/// A statement that each connection prepares once and keeps.
///
/// Statements are grouped by subject, so that every group has one exhaustive switch: a statement without text does not compile.
protocol PreparedQuery: CaseIterable, RawRepresentable<Int>, Sendable {
  /// Which of the groups this is, counted from 0: the statements of a connection are found by group and number.
  static var group: Int { get }
  var sql: String { get }
}

extension PreparedQuery {
  /// Where a connection keeps the statement.
  var slot: Int { Self.group * SQL.groupMax + rawValue }
}

/// What the texts of statements are made of.
enum SQL {
  /// The most statements of a group.
  static let groupMax = 32
  /// How many groups there are.
  static let groupCount = 8

  static let commitColumns =
    "ns, revision, epoch, time, actor, request_id, cause, suppresses_triggers, digest, hash, changes"
  static let eventColumns = "ns, revision, path, epoch, kind, hop"
  static let executionColumns =
    "epoch, revision, path, function, outcome, reason, attempt, started_at, finished_at, effect, settings"
  static let deliveryColumns =
    "epoch, revision, path, function, kind, hop, state, attempts, crashes, next_attempt_at, last_error, updated_at"
  static let entryColumns = [
    "sequence, revision, time, debit, credit, amount, unit, code, business_key, event, function, subject, reverses, reason",
    "expires_at, allows_negative, debit_after, credit_after, previous_hash, hash",
  ].joined(separator: ", ")
  static let outboxColumns =
    "key, outlet, payload, cause, state, attempts, next_attempt_at, last_error, created_at"
  static let functionColumns = "name, pattern, kinds, since, is_paused, pause_reason, updated_at"
  static let eventKey = "ns = ? AND epoch = ? AND revision = ? AND path = ?"
  static let indexColumns = "id, pattern, child_order, state, cursor, child_count"
  static let indexEntryRange = "ns = ? AND index_id = ? AND parent = ? AND place >= ? AND place < ?"

  static func insert(_ table: String, _ columns: String, replacing: Bool = false) -> String {
    let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
    return "INSERT \(replacing ? "OR REPLACE " : "")INTO \(table) (\(columns)) VALUES (\(marks))"
  }

  /// The tables that hold a namespace's rows, for forgetting it.
  static let namespaceTables = [
    "node", "commit_log", "history", "history_run", "event", "execution", "delivery", "ledger_entry", "ledger_posting",
    "ledger_balance", "outbox", "idempotency", "rules", "tree_index", "index_place", "replay", "replay_item", "invocation",
    "checkpoint", "checkpoint_leaf", "failed_attempt", "account", "account_identifier", "refresh_token", "account_code",
    "account_revocation", "account_settings", "room_record", "link_count",
  ]
}

/// Beginning and ending transactions.
enum TransactionQuery: Int, PreparedQuery {
  case begin, beginImmediate, commit, rollback, putPosition

  static var group: Int { 0 }

  var sql: String {
    switch self {
    case .begin: "BEGIN"
    case .beginImmediate: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .putPosition: SQL.insert("row_digest", "ns, name, row_count, digest", replacing: true)
    }
  }
}

/// The tree: its leaves as they are now.
enum TreeQuery: Int, PreparedQuery {
  case leaf, leavesAscending, pathsDescending, firstPath, lastPath, putNode, removeNode, longValue, putLongValue

  static var group: Int { 1 }

  var sql: String {
    switch self {
    case .leaf: "SELECT path, revision, value FROM node WHERE ns = ? AND path = ?"
    case .leavesAscending: "SELECT path, revision, value FROM node WHERE ns = ? AND path >= ? AND path < ? ORDER BY path"
    case .pathsDescending: "SELECT path FROM node WHERE ns = ? AND path < ? ORDER BY path DESC"
    case .firstPath: "SELECT path FROM node WHERE ns = ? AND path >= ? AND path < ? ORDER BY path LIMIT 1"
    case .lastPath: "SELECT path FROM node WHERE ns = ? AND path < ? ORDER BY path DESC LIMIT 1"
    case .putNode:
      """
      INSERT INTO node (ns, path, revision, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (ns, path) DO UPDATE SET revision = excluded.revision, value = excluded.value
      """
    case .removeNode: "DELETE FROM node WHERE ns = ? AND path = ?"
    case .longValue: "SELECT value FROM long_value WHERE id = ?"
    case .putLongValue: SQL.insert("long_value", "id, tag, value")
    }
  }
}

/// The past of the tree: what stood before commits, in sorted runs.
enum HistoryQuery: Int, PreparedQuery {
  case watermark, historyRuns, historyAfter, historyPaths, lastHistoryPath, putHistory, putHistoryRun, setWatermark

  static var group: Int { 2 }

  var sql: String {
    switch self {
    case .watermark: "SELECT history_revision, pruned_revision FROM namespace WHERE id = ?"
    case .historyRuns:
      """
      SELECT generation, after_revision, last_revision FROM history_run WHERE ns = ? AND state = 'whole'
      AND last_revision > ? ORDER BY last_revision
      """
    case .historyAfter:
      """
      SELECT path, revision, before FROM history WHERE ns = ? AND generation = ? AND (path, revision) > (?, ?) AND path < ?
      ORDER BY path, revision
      """
    case .historyPaths:
      """
      SELECT path, revision, \(LongValue.length("before")) FROM history WHERE ns = ? AND generation = ? AND path >= ? AND path < ?
      ORDER BY path, revision
      """
    case .lastHistoryPath:
      """
      SELECT path FROM history WHERE ns = ? AND generation = ? AND path < ? ORDER BY path DESC, revision DESC LIMIT 1
      """
    case .putHistory: SQL.insert("history", "ns, generation, path, revision, before", replacing: true)
    case .putHistoryRun:
      SQL.insert(
        "history_run", "ns, generation, after_revision, last_revision, level, state", replacing: true)
    case .setWatermark: "UPDATE namespace SET history_revision = ? WHERE id = ?"
    }
  }
}

/// The commit log with its events, and the audit log.
enum LogQuery: Int, PreparedQuery {
  case commitRecord, commits, commitTime, firstCommit, lastCommit, tail, event, eventsAfter, eventsBefore
  case auditsBefore, lastAudit, lastAuditHash, putCommit, putEvent, putAudit, putAuditHash

  static var group: Int { 3 }

  var sql: String {
    switch self {
    case .commitRecord: "SELECT \(SQL.commitColumns) FROM commit_log WHERE ns = ? AND revision = ?"
    case .commits: "SELECT \(SQL.commitColumns) FROM commit_log WHERE ns = ? AND revision > ? ORDER BY revision"
    case .commitTime: "SELECT time FROM commit_log WHERE ns = ? AND revision = ?"
    case .firstCommit: "SELECT revision FROM commit_log WHERE ns = ? ORDER BY revision LIMIT 1"
    case .lastCommit: "SELECT revision, time, hash FROM commit_log WHERE ns = ? ORDER BY revision DESC LIMIT 1"
    case .tail:
      "SELECT count(*), total(\(LongValue.length("changes"))) FROM commit_log WHERE ns = ? AND revision > ?"
    case .event: "SELECT \(SQL.eventColumns) FROM event WHERE ns = ? AND revision = ? AND path = ?"
    case .eventsAfter:
      "SELECT \(SQL.eventColumns) FROM event WHERE ns = ? AND (revision, path) > (?, ?) ORDER BY revision, path"
    case .eventsBefore:
      "SELECT \(SQL.eventColumns) FROM event WHERE ns = ? AND (revision, path) < (?, ?) ORDER BY revision DESC, path DESC"
    case .auditsBefore: "SELECT time, actor, action, detail, result, id FROM audit WHERE id < ? ORDER BY id DESC"
    case .lastAudit: "SELECT id FROM audit ORDER BY id DESC LIMIT 1"
    case .lastAuditHash: "SELECT hash FROM audit_chain ORDER BY id DESC LIMIT 1"
    case .putCommit: SQL.insert("commit_log", SQL.commitColumns)
    case .putEvent: SQL.insert("event", SQL.eventColumns)
    case .putAudit: SQL.insert("audit", "id, time, actor, action, detail, result")
    case .putAuditHash: SQL.insert("audit_chain", "id, hash")
    }
  }
}

/// What functions did and have to do.
enum FunctionQuery: Int, PreparedQuery {
  case execution, executions, delivery, deliveries, deliveriesInState, functions, putExecution, putDelivery
  case removeDelivery, putFunction

  static var group: Int { 4 }

  var sql: String {
    switch self {
    case .execution: "SELECT \(SQL.executionColumns) FROM execution WHERE \(SQL.eventKey) AND function = ?"
    case .executions: "SELECT \(SQL.executionColumns) FROM execution WHERE \(SQL.eventKey) ORDER BY function"
    case .delivery: "SELECT \(SQL.deliveryColumns) FROM delivery WHERE \(SQL.eventKey) AND function = ?"
    case .deliveries: "SELECT \(SQL.deliveryColumns) FROM delivery WHERE \(SQL.eventKey) ORDER BY function"
    case .deliveriesInState:
      """
      SELECT \(SQL.deliveryColumns) FROM delivery
      WHERE ns = ? AND state = ? AND (function, epoch, revision, path) > (?, ?, ?, ?)
      ORDER BY function, epoch, revision, path
      """
    case .functions: "SELECT \(SQL.functionColumns) FROM function ORDER BY name"
    case .putExecution: SQL.insert("execution", "ns, " + SQL.executionColumns)
    case .putDelivery: SQL.insert("delivery", "ns, " + SQL.deliveryColumns, replacing: true)
    case .removeDelivery: "DELETE FROM delivery WHERE \(SQL.eventKey) AND function = ?"
    case .putFunction: SQL.insert("function", SQL.functionColumns, replacing: true)
    }
  }
}

/// The ledger.
enum LedgerQuery: Int, PreparedQuery {
  case entry, entryByKey, entryByReversal, entries, entriesOfAccount, lastEntry, balance, balances, putEntry
  case putPosting, putBalance

  static var group: Int { 5 }

  var sql: String {
    switch self {
    case .entry: "SELECT \(SQL.entryColumns) FROM ledger_entry WHERE ns = ? AND sequence = ?"
    case .entryByKey: "SELECT \(SQL.entryColumns) FROM ledger_entry WHERE ns = ? AND business_key = ?"
    case .entryByReversal: "SELECT \(SQL.entryColumns) FROM ledger_entry WHERE ns = ? AND reverses = ?"
    case .entries: "SELECT \(SQL.entryColumns) FROM ledger_entry WHERE ns = ? AND sequence > ? ORDER BY sequence"
    case .entriesOfAccount:
      "SELECT sequence FROM ledger_posting WHERE ns = ? AND account = ? AND sequence < ? ORDER BY sequence DESC"
    case .lastEntry: "SELECT sequence, hash FROM ledger_entry WHERE ns = ? ORDER BY sequence DESC LIMIT 1"
    case .balance: "SELECT balance FROM ledger_balance WHERE ns = ? AND account = ? AND unit = ?"
    case .balances: "SELECT account, unit, balance FROM ledger_balance WHERE ns = ? ORDER BY account, unit"
    case .putEntry: SQL.insert("ledger_entry", "ns, " + SQL.entryColumns)
    case .putPosting: SQL.insert("ledger_posting", "ns, account, sequence")
    case .putBalance: SQL.insert("ledger_balance", "ns, account, unit, balance", replacing: true)
    }
  }
}

/// Namespaces, the outbox, answers to repeated requests, keyed records and the settings of the store.
enum RecordQuery: Int, PreparedQuery {
  case namespaces, namespaceNamed, settledRevision, outbox, outboxInState, idempotency, keyedRecord, meta
  case putNamespace, setSettledRevision, putOutbox, putIdempotency, expireIdempotency, putKeyedRecord, removeKeyedRecord
  case setMeta

  static var group: Int { 6 }

  var sql: String {
    switch self {
    case .namespaces: "SELECT id, name, created_at FROM namespace ORDER BY id"
    case .namespaceNamed: "SELECT id FROM namespace WHERE name = ?"
    case .settledRevision: "SELECT settled_revision FROM namespace WHERE id = ?"
    case .outbox: "SELECT \(SQL.outboxColumns) FROM outbox WHERE ns = ? AND key = ?"
    case .outboxInState:
      "SELECT \(SQL.outboxColumns) FROM outbox WHERE ns = ? AND state = ? AND key > ? ORDER BY key"
    case .idempotency: "SELECT key, request_digest, revision, answer, expires_at FROM idempotency WHERE ns = ? AND key = ?"
    case .keyedRecord: "SELECT value FROM room_record WHERE ns = ? AND kind = ? AND key = ?"
    case .meta: "SELECT value FROM meta WHERE name = ?"
    case .putNamespace:
      """
      INSERT INTO namespace (id, name, created_at, settled_revision, history_revision, pruned_revision)
      VALUES (?, ?, ?, 0, 0, 0)
      """
    case .setSettledRevision: "UPDATE namespace SET settled_revision = ? WHERE id = ?"
    case .putOutbox: SQL.insert("outbox", "ns, " + SQL.outboxColumns, replacing: true)
    case .putIdempotency:
      SQL.insert("idempotency", "ns, key, request_digest, revision, answer, expires_at", replacing: true)
    case .expireIdempotency: "DELETE FROM idempotency WHERE expires_at <= ?"
    case .putKeyedRecord: SQL.insert("room_record", "ns, kind, key, value", replacing: true)
    case .removeKeyedRecord: "DELETE FROM room_record WHERE ns = ? AND kind = ? AND key = ?"
    case .setMeta: SQL.insert("meta", "name, value", replacing: true)
    }
  }
}

/// Rules and the indexes that they declare.
enum IndexQuery: Int, PreparedQuery {
  case rules, indexes, index, indexEntriesAscending, indexEntriesDescending, anyPath, putRules, putIndex
  case removeIndex, putIndexEntry, removeIndexEntry, removeIndexEntries

  static var group: Int { 7 }

  var sql: String {
    switch self {
    case .rules: "SELECT source, updated_at, last_index FROM rules WHERE ns = ?"
    case .indexes: "SELECT \(SQL.indexColumns) FROM tree_index WHERE ns = ? ORDER BY id"
    case .index: "SELECT \(SQL.indexColumns) FROM tree_index WHERE ns = ? AND id = ?"
    case .indexEntriesAscending: "SELECT place FROM index_place WHERE \(SQL.indexEntryRange) ORDER BY place"
    case .indexEntriesDescending: "SELECT place FROM index_place WHERE \(SQL.indexEntryRange) ORDER BY place DESC"
    case .anyPath: "SELECT 1 FROM index_place WHERE ns = ? AND index_id = ? LIMIT 1"
    case .putRules: SQL.insert("rules", "ns, source, updated_at, last_index", replacing: true)
    case .putIndex: SQL.insert("tree_index", "ns, " + SQL.indexColumns, replacing: true)
    case .removeIndex: "DELETE FROM tree_index WHERE ns = ? AND id = ?"
    case .putIndexEntry: SQL.insert("index_place", "ns, index_id, parent, place") + " ON CONFLICT DO NOTHING"
    case .removeIndexEntry: "DELETE FROM index_place WHERE ns = ? AND index_id = ? AND parent = ? AND place = ?"
    case .removeIndexEntries:
      """
      DELETE FROM index_place WHERE (ns, index_id, parent, place) IN (
        SELECT ns, index_id, parent, place FROM index_place WHERE ns = ? AND index_id = ? LIMIT ?)
      """
    }
  }
}
