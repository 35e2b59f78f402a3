import CSQLite
import RewardModel
import StorageCore
@testable import StorageSQLite
import TreeModel

/// One record of every kind that has a key, in rounds: a later round replaces what can be replaced.
struct Records {
  let ns: NamespaceID
  let event = EventID(epoch: 1, revision: Revision(1), path: PathBytes("/users/bob/level"))
  let account = LedgerAccount.issuance("signup")

  func delivery(_ round: Int, _ function: String = "reward", _ state: DeliveryRecord.State = .waiting) -> DeliveryRecord {
    DeliveryRecord(
      event: event, kind: .created, hop: 1, function: function, state: state, attempts: round, crashes: 0, nextAttemptAt: 9,
      lastError: "round \(round)", updatedAt: 8)
  }

  func execution(_ function: String) -> ExecutionRecord {
    ExecutionRecord(
      event: event, function: function, outcome: .skipped, reason: "jumped_over_5", attempt: 2, startedAt: 3, finishedAt: 4,
      effect: Revision(7), settings: "{}")
  }

  func outbox(_ round: Int, _ key: String = "mail/1", _ state: OutboxRecord.State = .waiting) -> OutboxRecord {
    OutboxRecord(
      key: key, outlet: "webhook", payload: "{\"round\":\(round)}", cause: Cause(event: event, function: "reward", hop: 1),
      state: state, attempts: round, nextAttemptAt: 5, lastError: nil, createdAt: 6)
  }

  func answer(_ round: Int, _ key: String = "key", expiresAt: Int64 = 100) -> IdempotencyRecord {
    IdempotencyRecord(
      key: key, requestDigest: [UInt8(round)], revision: Revision(Int64(round)), answer: [], expiresAt: expiresAt)
  }

  /// The first round fills, the second replaces, removes and adds.
  func putAll(into committer: Committer, round: Int) throws {
    let session = committer.session
    session.append(EventRecord(namespace: ns, id: event(in: round), kind: .created, hop: 0))
    session.put(execution("other\(round)"), in: ns)
    if round == 1 { session.put(delivery(1), in: ns) } else { session.removeDelivery(of: event, to: "reward", in: ns) }
    try committer.post(transfer("bob", key: "signup/bob\(round)", reverses: round == 2 ? 1 : nil))
    session.setBalance(Int64(-50 * round), of: account, unit: "pieces_of_eight", in: ns)
    session.put(outbox(round), in: ns)
    session.put(answer(round), in: ns)
    session.put(
      FunctionRecord(
        name: "reward", pattern: "/users/{uid}", kinds: "onCreate", since: [ns: Revision(Int64(round))], isPaused: round == 2,
        pauseReason: nil, updatedAt: 1))
    session.append(AuditRecord(time: Int64(round), actor: .admin("ann"), action: "a", detail: "{}", result: "ok"))
  }

  func event(in round: Int) -> EventID {
    EventID(epoch: 1, revision: Revision(Int64(round)), path: event.path)
  }

  /// What both readers can see, as text to compare.
  func readAll(_ reading: any StorageReading) throws -> [String] {
    [
      "\(String(describing: try reading.commit(in: ns, at: Revision(2))))",
      "\(String(describing: try reading.execution(in: ns, of: event, by: "other1")))",
      "\(String(describing: try reading.execution(in: ns, of: event, by: "other2")))",
      "\(String(describing: try reading.delivery(in: ns, of: event, to: "reward")))",
      "\(String(describing: try reading.entry(in: ns, key: BusinessKey("signup/bob1"))))",
      "\(String(describing: try reading.entry(in: ns, key: BusinessKey("signup/bob2"))))",
      "\(String(describing: try reading.entry(in: ns, sequence: 2)))",
      "\(String(describing: try reading.reversal(in: ns, of: 1)))",
      "\(String(describing: try reading.balance(in: ns, of: account, unit: "pieces_of_eight")))",
      "\(String(describing: try reading.outbox(in: ns, key: "mail/1")))",
      "\(String(describing: try reading.idempotency(in: ns, key: "key")))",
    ]
  }
}

/// Counts the rows that a connection's statements come to, for as long as it is kept.
final class RowCount {
  private let connection: SQLiteConnection
  private let place: UnsafeMutablePointer<Int>

  var count: Int { place.pointee }

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    place = .allocate(capacity: 1)
    place.initialize(to: 0)
    let code = sqlite3_trace_v2(
      connection.handle, UInt32(SQLITE_TRACE_ROW),
      { _, context, _, _ in
        context?.assumingMemoryBound(to: Int.self).pointee += 1
        return 0
      }, place)
    precondition(code == SQLITE_OK)
  }

  deinit {
    sqlite3_trace_v2(connection.handle, 0, nil, nil)
    place.deallocate()
  }
}

extension SchemaMigration {
  /// A step that never was: from a schema before, which had none of these tables, to the current one.
  static let invented = SchemaMigration(
    from: SchemaScript.version - 1, script: inventedTables.map(SchemaScript.table).joined(separator: "\n"))

  static let inventedTables = ["row_digest", "audit_chain"]

  /// SQL that takes a store back to the version before the step.
  static let undoing =
    "UPDATE meta SET value = '\(SchemaScript.version - 1)' WHERE name = 'schema'"
    + inventedTables.map { "; DROP TABLE \($0)" }.joined()
}

extension StoreUpgrade.Settings {
  /// Steps to the current schema.
  static func by(_ migrations: [SchemaMigration]) -> Self {
    Self(schema: SchemaHistory(version: SchemaScript.version, migrations: migrations))
  }
}

extension SchemaScript {
  /// The statement of `schema.sql` that makes a table.
  static func table(_ name: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines.drop { $0 != "CREATE TABLE \(name) (" }
    let end = rest.firstIndex { $0.hasSuffix(";") } ?? rest.endIndex
    return lines[rest.startIndex...end].joined(separator: "\n")
  }
}

/// A generator whose numbers are the same in every run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
