import FunctionsKit
import Ledger
import Logging
import RewardModel
import StorageCore
import StorageSQLite
import StorageTestSupport
import Synchronization
import TestSupport
import TreeDatabase
import TreeModel
@testable import Triggers

enum Users {
  static let level = TreePath<Int64, UserID>("/users/{uid}/level")
  static let name = TreePath<String, UserID>("/users/{uid}/name")
  static let coins = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  static let counter = TreePath<Int64>("/counter")
  static let log = TreePath<String, UserID>("/log/{uid}")
}

/// Functions in the real pipeline, on a real file, at a clock that stands still.
final class TriggerFixture: Sendable {
  static let start: Int64 = 1_700_000_000_000

  let folder: TemporaryFolder
  let clock: AdjustableClock
  let engine: SQLiteEngine
  let database: Database
  let dispatcher: Dispatcher
  let outbox: OutboxDispatcher
  let namespace: NamespaceID
  let report: StartReport
  private let services = Mutex<[Task<Void, Never>]>([])

  /// - Parameter runs: whether functions run at once.
  init(
    folder: TemporaryFolder = TemporaryFolder(), clock: AdjustableClock = AdjustableClock(frozenAt: start),
    limits: WriteLimits = WriteLimits(), options: DispatcherOptions = DispatcherOptions(), outlets: [any OutboxTransport] = [],
    observers: [any CommitObserver] = [], runs: Bool = true, _ register: (Functions) -> Void
  ) async throws {
    self.folder = folder
    self.clock = clock
    let functions = Functions()
    register(functions)
    let table = TriggerTable(functions.definitions)
    var options = options
    options.limits = limits
    options.crashNotesPath = folder.file("crash-notes")
    engine = try TestStore.open(folder.path)
    dispatcher = try Dispatcher(
      table: table, engine: engine, clock: clock, options: options, random: SplitMix64(seed: 7),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    outbox = OutboxDispatcher(
      outlets: outlets, engine: engine, clock: clock, random: SplitMix64(seed: 8),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    database = try Database(
      engine: engine,
      participants: [
        try LedgerParticipant(table: CurrencyTable([.piecesOfEight])), EventParticipant(table: table, limits: limits),
      ], observers: observers + [dispatcher, outbox], limits: limits, clock: clock, inline: dispatcher)
    namespace = try await database.openNamespace(named: "game")
    report = try await dispatcher.start(writer: database)
    if runs { run() }
  }

  /// Lets functions run.
  func run() {
    let (dispatcher, outbox, database) = (dispatcher, outbox, database)
    let started = [
      Task { _ = try? await dispatcher.run() },
      Task { _ = try? await outbox.run(writer: database) },
    ]
    services.withLock { $0 = started }
  }

  /// Stops everything and leaves the file behind.
  func close() async {
    let running = services.withLock(\.self)
    for service in running { service.cancel() }
    for service in running { await service.value }
    database.shutDown()
    engine.close()
  }

  // MARK: Doing

  @discardableResult
  func write(
    _ operations: WriteOperation..., by actor: Actor = .user(uid: "ann"), suppressingTriggers: Bool = false
  ) async throws -> CommitReceipt {
    var request = CommitRequest(namespace: namespace, actor: actor, operations: operations)
    request.triggers.areSuppressed = suppressingTriggers
    return try await database.commit(request)
  }

  @discardableResult
  func set(_ path: Path, _ node: TreeNode) async throws -> CommitReceipt { try await write(.set(path, node)) }

  @discardableResult
  func drain() async throws -> DrainReport { try await dispatcher.drain() }

  /// Waits until the timer task sleeps, so that moving the clock wakes it, and moves the clock.
  func advance(by milliseconds: Int64) async throws {
    clock.advance(by: milliseconds)
    try await drain()
  }

  // MARK: Looking

  func node(_ path: Path) throws -> TreeNode {
    let place = PathBytes(path)
    let leaves = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.leaves(in: namespace, under: place, limit: .max)
    }
    return TreeNode(leaves: leaves.map(\.leaf), at: place) ?? .absent
  }

  func coins(_ uid: String) throws -> Int64? {
    try node(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")).scalar?.intValue
  }

  func events() throws -> [EventRecord] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.events(in: namespace, after: nil, limit: 100_000)
    }
  }

  func executions() throws -> [ExecutionRecord] {
    try events().flatMap { event in
      try engine.read { (snapshot) throws(StorageError) in try snapshot.executions(in: namespace, of: event.id) }
    }
  }

  func failedAttempts() throws -> [FailedAttempt] {
    try events().flatMap { event in
      try engine.read { (snapshot) throws(StorageError) in
        try snapshot.failedAttempts(in: namespace, of: event.id, limit: 100)
      }
    }
  }

  func deliveries(_ state: DeliveryRecord.State) throws -> [DeliveryRecord] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.deliveries(in: namespace, state: state, after: nil, limit: 100_000)
    }
  }

  func entries() throws -> [LedgerEntry] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.entries(in: namespace, after: 0, limit: 100_000)
    }
  }

  /// What must hold after every test: no pair of event and function has two ends, and coins match the ledger.
  func checkInvariants() throws {
    let done = try executions().map { "\($0.event) \($0.function)" }
    guard Set(done).count == done.count else { throw Broken("An event was executed twice: \(done)") }
    let open = try DeliveryRecord.State.allCases.flatMap { try deliveries($0) }.map { "\($0.event) \($0.function)" }
    guard Set(open).isDisjoint(with: done) else { throw Broken("An executed event has a delivery: \(open)") }
    var sums: [String: Int64] = [:]
    for entry in try entries() {
      sums[entry.transfer.credit.name, default: 0] += entry.transfer.amount
      sums[entry.transfer.debit.name, default: 0] -= entry.transfer.amount
    }
    for user in try node("/users").children {
      let coins = user.node["inventory"]["pieces_of_eight"].scalar?.intValue ?? 0
      let sum = sums["user:\(user.key)"] ?? 0
      guard coins == sum else { throw Broken("\(user.key) has \(coins), the ledger says \(sum)") }
    }
  }
}

struct Broken: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension TreeNode {
  subscript(name: String) -> TreeNode { self[TreeModel.Key(unchecked: name)] }
}

/// A list that functions write to while they run.
final class Notes<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  func add(_ value: Value) { values.withLock { $0.append(value) } }
  var all: [Value] { values.withLock(\.self) }
  var count: Int { values.withLock(\.count) }
}
