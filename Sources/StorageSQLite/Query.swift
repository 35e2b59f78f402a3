/// Every statement that the engine keeps prepared for reading. What it writes is in ``Query/sql`` too, below the reads.
enum Query: Int, CaseIterable {
  case begin, beginImmediate, commit, rollback
  // The tree
  case leaf, leavesAscending, leavesDescending, firstPath
  // The past
  case watermark, historyRuns, historyAfter, commitTime, firstCommit, auditsBefore
  // The log
  case commitRecord, commits, tail, lastCommit, event, eventsAfter, eventsBefore
  // Functions
  case execution, executions, delivery, deliveries, deliveriesInState, functions
  // The ledger
  case entry, entryByKey, entryByReversal, entries, entriesOfAccount, lastEntry, balance, balances
  // The rest
  case namespaces, namespaceNamed, settledRevision, outbox, outboxInState, idempotency, lastAudit, lastAuditHash, meta
  // Rules and indexes
  case rules, indexes, index, indexEntriesAscending, indexEntriesDescending, anyPath
  // Rooms
  case keyedRecord
  // Writing
  case putNode, removeNode, putCommit, putEvent, putExecution, putDelivery, removeDelivery
  case putEntry, putPosting, putBalance, putOutbox, putIdempotency, expireIdempotency, putFunction, putAudit, putAuditHash
  case putNamespace, setSettledRevision, putHistory, putHistoryRun, setWatermark, setMeta
  case putRules, putIndex, removeIndex, putIndexEntry, removeIndexEntry, removeIndexEntries

  var sql: String {
    switch self {
    case .begin: "BEGIN"
    case .beginImmediate: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    default: isWriting ? writingSQL : readingSQL
    }
  }

  private var isWriting: Bool { rawValue >= Query.putNode.rawValue }

  static let commitColumns =
    "ns, revision, epoch, time, actor, request_id, cause, suppresses_triggers, digest, hash, changes"
  private static let eventColumns = "ns, revision, path, epoch, kind, hop"
  private static let executionColumns =
    "epoch, revision, path, function, outcome, reason, attempt, started_at, finished_at, effect, settings"
  private static let deliveryColumns =
    "epoch, revision, path, function, kind, hop, state, attempts, crashes, next_attempt_at, last_error, updated_at"
  private static let entryColumns = [
    "sequence, revision, time, debit, credit, amount, unit, code, business_key, event, function, subject, reverses, reason",
    "expires_at, allows_negative, debit_after, credit_after, previous_hash, hash",
  ].joined(separator: ", ")
  private static let outboxColumns =
    "key, outlet, payload, cause, state, attempts, next_attempt_at, last_error, created_at"
  private static let functionColumns = "name, pattern, kinds, since, is_paused, pause_reason, updated_at"
  private static let eventKey = "ns = ? AND epoch = ? AND revision = ? AND path = ?"

  private var readingSQL: String {
    switch self {
    case .keyedRecord: "SELECT value FROM room_record WHERE ns = ? AND kind = ? AND key = ?"
    case .leaf: "SELECT path, revision, value FROM node WHERE ns = ? AND path = ?"
    case .leavesAscending: "SELECT path, revision, value FROM node WHERE ns = ? AND path >= ? AND path < ? ORDER BY path"
    case .leavesDescending: "SELECT path, revision, value FROM node WHERE ns = ? AND path < ? ORDER BY path DESC"
    case .firstPath: "SELECT path FROM node WHERE ns = ? AND path >= ? AND path < ? ORDER BY path LIMIT 1"
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
    case .commitTime: "SELECT time FROM commit_log WHERE ns = ? AND revision = ?"
    case .firstCommit: "SELECT revision FROM commit_log WHERE ns = ? ORDER BY revision LIMIT 1"
    case .auditsBefore: "SELECT time, actor, action, detail, result, id FROM audit WHERE id < ? ORDER BY id DESC"
    case .commitRecord: "SELECT \(Self.commitColumns) FROM commit_log WHERE ns = ? AND revision = ?"
    case .commits: "SELECT \(Self.commitColumns) FROM commit_log WHERE ns = ? AND revision > ? ORDER BY revision"
    case .tail:
      "SELECT count(*), total(length(changes)) FROM commit_log WHERE ns = ? AND revision > ?"
    case .lastCommit: "SELECT revision, time, hash FROM commit_log WHERE ns = ? ORDER BY revision DESC LIMIT 1"
    case .event: "SELECT \(Self.eventColumns) FROM event WHERE ns = ? AND revision = ? AND path = ?"
    case .eventsAfter:
      "SELECT \(Self.eventColumns) FROM event WHERE ns = ? AND (revision, path) > (?, ?) ORDER BY revision, path"
    case .eventsBefore:
      "SELECT \(Self.eventColumns) FROM event WHERE ns = ? AND (revision, path) < (?, ?) ORDER BY revision DESC, path DESC"
    case .execution: "SELECT \(Self.executionColumns) FROM execution WHERE \(Self.eventKey) AND function = ?"
    case .executions: "SELECT \(Self.executionColumns) FROM execution WHERE \(Self.eventKey) ORDER BY function"
    case .delivery: "SELECT \(Self.deliveryColumns) FROM delivery WHERE \(Self.eventKey) AND function = ?"
    case .deliveries: "SELECT \(Self.deliveryColumns) FROM delivery WHERE \(Self.eventKey) ORDER BY function"
    case .deliveriesInState:
      """
      SELECT \(Self.deliveryColumns) FROM delivery
      WHERE ns = ? AND state = ? AND (function, epoch, revision, path) > (?, ?, ?, ?)
      ORDER BY function, epoch, revision, path
      """
    case .functions: "SELECT \(Self.functionColumns) FROM function ORDER BY name"
    default: readingLedgerSQL
    }
  }

  private var readingLedgerSQL: String {
    switch self {
    case .entry: "SELECT \(Self.entryColumns) FROM ledger_entry WHERE ns = ? AND sequence = ?"
    case .entryByKey: "SELECT \(Self.entryColumns) FROM ledger_entry WHERE ns = ? AND business_key = ?"
    case .entryByReversal: "SELECT \(Self.entryColumns) FROM ledger_entry WHERE ns = ? AND reverses = ?"
    case .entries: "SELECT \(Self.entryColumns) FROM ledger_entry WHERE ns = ? AND sequence > ? ORDER BY sequence"
    case .entriesOfAccount:
      "SELECT sequence FROM ledger_posting WHERE ns = ? AND account = ? AND sequence < ? ORDER BY sequence DESC"
    case .lastEntry: "SELECT sequence, hash FROM ledger_entry WHERE ns = ? ORDER BY sequence DESC LIMIT 1"
    case .balance: "SELECT balance FROM ledger_balance WHERE ns = ? AND account = ? AND unit = ?"
    case .balances: "SELECT account, unit, balance FROM ledger_balance WHERE ns = ? ORDER BY account, unit"
    case .namespaces: "SELECT id, name, created_at FROM namespace ORDER BY id"
    case .namespaceNamed: "SELECT id FROM namespace WHERE name = ?"
    case .settledRevision: "SELECT settled_revision FROM namespace WHERE id = ?"
    case .outbox: "SELECT \(Self.outboxColumns) FROM outbox WHERE ns = ? AND key = ?"
    case .outboxInState:
      "SELECT \(Self.outboxColumns) FROM outbox WHERE ns = ? AND state = ? AND key > ? ORDER BY key"
    case .idempotency: "SELECT key, request_digest, revision, answer, expires_at FROM idempotency WHERE ns = ? AND key = ?"
    case .lastAudit: "SELECT id FROM audit ORDER BY id DESC LIMIT 1"
    case .lastAuditHash: "SELECT hash FROM audit_chain ORDER BY id DESC LIMIT 1"
    case .meta: "SELECT value FROM meta WHERE name = ?"
    default: indexSQL
    }
  }

  private var writingSQL: String {
    switch self {
    case .putNode:
      """
      INSERT INTO node (ns, path, revision, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (ns, path) DO UPDATE SET revision = excluded.revision, value = excluded.value
      """
    case .removeNode: "DELETE FROM node WHERE ns = ? AND path = ?"
    case .putCommit: Self.insert("commit_log", Self.commitColumns)
    case .putEvent: Self.insert("event", Self.eventColumns)
    case .putExecution: Self.insert("execution", "ns, " + Self.executionColumns)
    case .putDelivery: Self.insert("delivery", "ns, " + Self.deliveryColumns, replacing: true)
    case .removeDelivery: "DELETE FROM delivery WHERE \(Self.eventKey) AND function = ?"
    case .putEntry: Self.insert("ledger_entry", "ns, " + Self.entryColumns)
    case .putPosting: Self.insert("ledger_posting", "ns, account, sequence")
    case .putBalance: Self.insert("ledger_balance", "ns, account, unit, balance", replacing: true)
    case .putOutbox: Self.insert("outbox", "ns, " + Self.outboxColumns, replacing: true)
    case .putIdempotency:
      Self.insert("idempotency", "ns, key, request_digest, revision, answer, expires_at", replacing: true)
    case .expireIdempotency: "DELETE FROM idempotency WHERE expires_at <= ?"
    case .putFunction: Self.insert("function", Self.functionColumns, replacing: true)
    case .putAudit: Self.insert("audit", "id, time, actor, action, detail, result")
    case .putAuditHash: Self.insert("audit_chain", "id, hash")
    case .putNamespace:
      """
      INSERT INTO namespace (id, name, created_at, settled_revision, history_revision, pruned_revision)
      VALUES (?, ?, ?, 0, 0, 0)
      """
    case .setSettledRevision: "UPDATE namespace SET settled_revision = ? WHERE id = ?"
    case .putHistory: Self.insert("history", "ns, generation, path, revision, before", replacing: true)
    case .putHistoryRun:
      Self.insert(
        "history_run", "ns, generation, after_revision, last_revision, level, state", replacing: true)
    case .setWatermark: "UPDATE namespace SET history_revision = ? WHERE id = ?"
    case .setMeta: Self.insert("meta", "name, value", replacing: true)
    default: indexSQL
    }
  }

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

extension Query {
  /// What concerns rules and indexes, reading and writing.
  var indexSQL: String {
    switch self {
    case .rules: "SELECT source, updated_at, last_index FROM rules WHERE ns = ?"
    case .indexes: "SELECT \(Self.indexColumns) FROM tree_index WHERE ns = ? ORDER BY id"
    case .index: "SELECT \(Self.indexColumns) FROM tree_index WHERE ns = ? AND id = ?"
    case .indexEntriesAscending: "SELECT place FROM index_place WHERE \(Self.indexEntryRange) ORDER BY place"
    case .indexEntriesDescending: "SELECT place FROM index_place WHERE \(Self.indexEntryRange) ORDER BY place DESC"
    case .anyPath: "SELECT 1 FROM index_place WHERE ns = ? AND index_id = ? LIMIT 1"
    case .putRules: Self.insert("rules", "ns, source, updated_at, last_index", replacing: true)
    case .putIndex: Self.insert("tree_index", "ns, " + Self.indexColumns, replacing: true)
    case .removeIndex: "DELETE FROM tree_index WHERE ns = ? AND id = ?"
    case .putIndexEntry: Self.insert("index_place", "ns, index_id, parent, place") + " ON CONFLICT DO NOTHING"
    case .removeIndexEntry: "DELETE FROM index_place WHERE ns = ? AND index_id = ? AND parent = ? AND place = ?"
    case .removeIndexEntries:
      """
      DELETE FROM index_place WHERE (ns, index_id, parent, place) IN (
        SELECT ns, index_id, parent, place FROM index_place WHERE ns = ? AND index_id = ? LIMIT ?)
      """
    default: preconditionFailure("\(self) has no text")
    }
  }

  private static let indexColumns = "id, pattern, child_order, state, cursor, child_count"
  private static let indexEntryRange = "ns = ? AND index_id = ? AND parent = ? AND place >= ? AND place < ?"
}
