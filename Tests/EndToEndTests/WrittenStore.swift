import AdminModel
import DoubloonTesting
import Functions
import FunctionsKit
import Ledger
import NIOHTTP1
import StorageCore
import TestSupport
import TreeModel

@testable import AdminAPI
@testable import AdminClient
@testable import ServerConfiguration
@testable import StorageSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of a store in which something of nearly everything happened, closed in order; and what is done to copies of it.
struct WrittenStore {
  let bytes: [UInt8]

  /// One for all tests: what they change are copies.
  static let shared = Task { try await WrittenStore() }

  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  /// Runs a game: rewards, accounts, sessions, codes, rules with an index, a dead letter, a replay, an erasure, a long history.
  private init() async throws {
    let functions: @Sendable (Functions) -> Void = { functions in
      registerFunctions(functions)
      functions.onCreate(Game.badge, name: "badges", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) { event, _ in
        guard event.value != "trouble" else { throw Oops() }
        return .skipped("no_badge")
      }
    }
    let server = try await RunningServer(folder: TemporaryFolder(isInMemory: true), functions: functions)
    do {
      try await Self.play(server.client, player: server.player)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
    bytes = try FileBytes.contents(of: server.folder.file("data/doubloon.db"))
  }

  private static func play(_ client: AdminClient, player: AdminClient) async throws {
    let rules: JSON = ["rules": ["users": [".indexOn": ["level"], ".read": true]]]
    _ = try await client.put("/.settings/rules.json", rules)
    for name in ["alice", "bob", "carol", "dave"] {
      _ = try await client.put("/users/\(name).json", ["name": .string(name), "referred_by": "alice", "level": 4])
      _ = try await client.put("/users/\(name)/last_signin_at.json", 1, headers: waits)
      _ = try await client.put(
        "/users/\(name)/level.json", 5, headers: ["X-Doubloon-Wait": "effects", "Idempotency-Key": "key-\(name)"])
      // One password is enough: its hash is made to be slow.
      let fields: JSON = name == "bob" ? ["email": "bob@pirates.example", "password": "secret1"] : .object([])
      _ = try await player.post("/identitytoolkit.googleapis.com/v1/accounts:signUp", fields, query: [QueryItem("key", "k")])
    }
    _ = try await client.put("/users/bob/badge.json", "trouble", headers: waits)
    _ = try await client.put("/users/carol/badge.json", "brave", headers: waits)
    _ = try await player.post(
      "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode",
      ["requestType": "PASSWORD_RESET", "email": "bob@pirates.example"], query: [QueryItem("key", "k")])
    _ = try await client.post(
      "/admin/v1/ledger/transfer",
      [
        "debit": "issuance:support", "credit": "user:bob", "amount": 7, "unit": "pieces_of_eight", "key": "s/1",
        "reason": "sorry",
      ])
    _ = try await client.post("/admin/v1/functions/badges/pause", ["reason": "looks odd"])
    _ = try await client.post(
      "/identitytoolkit.googleapis.com/v1/projects/demo/accounts",
      ["localId": "dave", "email": "d@pirates.example", "displayName": "Dave"])
    _ = try await client.post("/admin/v1/accounts/dave/erase", ["reason": "ticket 4711"])
    // So many changes that the history is written when the store is closed.
    for half in 0..<2 {
      let leaves = (0..<560).map { JSON.Member(key: "n\($0)", value: .int(Int64(half * 1000 + $0))) }
      _ = try await client.put("/numbers.json", .object(leaves))
    }
    _ = try await client.post("/admin/v1/drain")
  }

  /// A data folder that holds a file with these bytes alone.
  func copy(_ bytes: [UInt8]) throws -> TemporaryFolder {
    let copy = TemporaryFolder(isInMemory: true)
    try FileBytes.write(bytes, to: copy.file("doubloon.db"))
    return copy
  }

  /// What a verification says of the store in a folder: nothing where it is sound.
  func errors(in folder: TemporaryFolder) throws -> [String] {
    let engine: SQLiteEngine
    do {
      engine = try SQLiteEngine(directory: folder.path)
    } catch {
      return [error.message]
    }
    defer { engine.close() }
    let report = StoreVerification.run(
      engine, currencies: try CurrencyTable([.piecesOfEight]), referrals: ReferralPath("/users/{uid}/referred_by"))
    let errors = report.answer.faults + report.answer.namespaces.flatMap(\.faults)
    return report.isSound ? [] : errors + ["not sound"]
  }

  /// Every value of every table with its type, and the schema; nil if they cannot be read. What this does not show is no part
  /// of the store.
  func content(of folder: TemporaryFolder) -> [String]? {
    do throws(StorageError) {
      let connection = try SQLiteConnection(path: folder.file("doubloon.db"))
      defer { connection.close() }
      var rows = try connection.texts("SELECT quote(type) || quote(name) || quote(tbl_name) || quote(sql) FROM sqlite_master")
      for table in try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
        let columns = try connection.texts("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('\(table)')")
        rows += try connection.texts("SELECT \(columns.joined(separator: " || ")) FROM \"\(table)\"")
      }
      return rows
    } catch {
      return nil
    }
  }

  /// Changes the store as somebody does who opens it with another program; false where that changed no row.
  ///
  /// - Parameter withDigests: whether the digests follow, as they do if it is the server that writes what it should not.
  func edit(_ script: String, in folder: TemporaryFolder, withDigests: Bool = false) throws -> Bool {
    let connection = try SQLiteConnection(path: folder.file("doubloon.db"))
    defer { connection.close() }
    if withDigests { connection.digests = try RowDigests.follow(connection) }
    let before = try connection.texts("SELECT total_changes()")
    try connection.inTransaction { () throws(StorageError) in try connection.execute(script) }
    return try connection.texts("SELECT total_changes()") != before
  }
}

/// Whole files, for tests.
enum FileBytes {
  struct Failed: Error { let path: String }

  static func contents(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw Failed(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failed(path: path) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failed(path: path) }
  }
}
