import Ledger
import RewardModel
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import TreeDatabase
import TreeModel

/// A ledger in the real write pipeline, on a real file, at a clock that stands still.
struct LedgerFixture {
  static let start: Int64 = 1_700_000_000_000
  static let unit = "pieces_of_eight"

  let folder: TemporaryFolder
  let clock: AdjustableClock
  let engine: SQLiteEngine
  let database: Database
  let namespace: NamespaceID
  let table: CurrencyTable
  let ledger: LedgerService

  init(
    folder: TemporaryFolder = TemporaryFolder(), currencies: [Currency] = [.piecesOfEight], limits: WriteLimits = WriteLimits()
  ) async throws {
    self.folder = folder
    clock = AdjustableClock(frozenAt: Self.start)
    engine = try TestStore.open(folder.path)
    table = try CurrencyTable(currencies)
    database = try Database(
      engine: engine, participants: [LedgerParticipant(table: table)], limits: limits, clock: clock)
    namespace = try await database.openNamespace(named: "game")
    ledger = LedgerService(engine: engine, writer: database, currencies: table)
  }

  func close() {
    database.shutDown()
    engine.close()
  }

  // MARK: Doing

  @discardableResult
  func write(_ operations: WriteOperation..., transfers: [LedgerTransfer] = [], isImport: Bool = false)
    async throws(CommitError) -> CommitReceipt
  {
    try await write(operations, transfers: transfers, isImport: isImport)
  }

  @discardableResult
  func write(_ operations: [WriteOperation], transfers: [LedgerTransfer] = [], isImport: Bool = false)
    async throws(CommitError) -> CommitReceipt
  {
    var request = CommitRequest(namespace: namespace, actor: .admin("ann"), operations: operations)
    request.ledger.transfers = transfers
    request.ledger.isImport = isImport
    return try await database.commit(request)
  }

  /// Pays a player, as a reward does.
  @discardableResult
  func pay(_ uid: String, _ amount: Int64, key: String) async throws -> PostedTransfer {
    try await ledger.transfer(.reward(uid, amount, key: key), in: namespace, by: .admin("ann"))
  }

  // MARK: Looking

  func node(_ path: Path) throws -> TreeNode {
    let place = PathBytes(path)
    let leaves = try engine.read { snapshot in
      try snapshot.leaves(in: namespace, under: place, limit: .max)
    }
    guard let node = TreeNode(leaves: leaves.map(\.leaf), at: place) else {
      throw StorageError(.damaged, "The leaves make no tree.")
    }
    return node
  }

  func balance(_ account: String, unit: String = unit) throws -> Int64 {
    try ledger.balance(in: namespace, of: LedgerAccount(account), unit: unit)
  }

  func entries() throws -> [LedgerEntry] {
    try engine.read { snapshot in
      try snapshot.entries(in: namespace, after: 0, limit: .max)
    }
  }

  func verify() throws -> LedgerReport { try ledger.verify(namespace) }
}

extension LedgerTransfer {
  /// A reward of the test's currency.
  static func reward(_ uid: String, _ amount: Int64, key: String) -> LedgerTransfer {
    .moving(amount, from: "issuance:gift", to: "user:\(uid)", key: key)
  }

  static func moving(
    _ amount: Int64, from debit: String, to credit: String, key: String, unit: String = LedgerFixture.unit,
    code: String = "gift", reverses: Int64? = nil, allowsNegative: Bool = false, expiresAt: Int64? = nil
  ) -> LedgerTransfer {
    LedgerTransfer(
      debit: LedgerAccount(debit), credit: LedgerAccount(credit), amount: amount, unit: unit, code: code,
      key: BusinessKey(key), reverses: reverses, allowsNegative: allowsNegative, expiresAt: expiresAt)
  }
}

extension CommitError.Code {
  /// The case's name, for tables of expectations.
  var name: String {
    switch self {
    case .balanceType: "balanceType"
    case .balanceOverflow: "balanceOverflow"
    case .insufficientFunds: "insufficientFunds"
    case .keyTaken: "keyTaken"
    case .invalidTransfer: "invalidTransfer"
    default: "another"
    }
  }
}

/// The path of a player's balance.
func balanceKey(_ uid: String) -> Path {
  Path(keys: ["users", uid, "inventory", "pieces_of_eight"].map(Key.init(unchecked:)))
}
