import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// What is missing of a log was acknowledged, or was not: a start tells them apart.
@Suite("Damaged logs")
struct LogLossTests {
  let folder = TemporaryFolder()
  private static let names = ["doubloon.db", "doubloon.db-wal", "doubloon.db-synced"]

  /// Where the header of a frame stands, counted from one.
  private static func frame(_ number: Int) -> Int { 32 + (number - 1) * (24 + 2048) }

  /// A folder as a killed process leaves it: 30 commits, none of them moved to the main file.
  private func killed(_ name: String, without missing: String? = nil, options: SQLiteOptions = tinyOptions) throws -> String {
    let engine = try SQLiteEngine(directory: folder.file("live-" + name), options: options)
    let committer = try Committer(engine)
    for value in 1...30 as ClosedRange<Int64> {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): true])
      try committer.session.commit()
    }
    let copy = folder.file(name)
    try FileCalls.makeFolder(copy)
    for file in Self.names where file != missing {
      TemporaryFolder.write(TemporaryFolder.bytes(of: folder.file("live-\(name)/\(file)")), to: "\(copy)/\(file)")
    }
    engine.close()
    return copy
  }

  private func edit(_ path: String, _ body: (inout [UInt8]) -> Void) {
    var bytes = TemporaryFolder.bytes(of: path)
    body(&bytes)
    TemporaryFolder.write(bytes, to: path)
  }

  /// What stands at /a after a start; the message of the refusal, if it is refused.
  private func start(_ path: String) throws -> (value: Scalar?, refusal: String?) {
    do {
      let engine = try SQLiteEngine(directory: path, options: tinyOptions)
      defer { engine.close() }
      let ns = try #require(try engine.read { try $0.namespaces() }.first).id
      return (try engine.read { try $0.value(in: ns, "/a") }, nil)
    } catch let error as StorageError {
      #expect(error.code == .damaged, "\(error.message)")
      return (nil, error.message)
    }
  }

  @Test(
    "Bits flipped anywhere in what was synced are refused, with the mark and without, and nothing is changed",
    arguments: [tinyOptions, reservedOptions])
  func flipped(options: SQLiteOptions) throws {
    let data = try killed("flipped", options: options)
    let log = data + "/doubloon.db-wal"
    let mark = TemporaryFolder.bytes(of: data + "/doubloon.db-synced")
    let whole = TemporaryFolder.bytes(of: log)
    let synced = Int(try LogInspection(path: log).soundBytes)
    try #require((synced < whole.count) == (options.reserve?.from == 0))
    var random = SplitMix(seed: 11)
    for round in 0..<60 {
      let hasMark = round % 2 == 0
      // Without the mark only a later transaction proves anything: the last two are left alone.
      let end = hasMark ? synced : synced - 30 * 2072
      // A flag of a header that SQLite does not look at is no damage: the count of checkpoints (12 to 15) has a checksum.
      let place = Int.random(in: 0..<end, using: &random)
      edit(log) { $0[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
      let flipped = TemporaryFolder.bytes(of: log)
      if hasMark {
        TemporaryFolder.write(mark, to: data + "/doubloon.db-synced")
      } else {
        FileCalls.remove(data + "/doubloon.db-synced")
      }
      let answer = try start(data)
      #expect(answer.refusal?.contains("doubloon recover --data \(data)") == true, "byte \(place)")
      #expect(TemporaryFolder.bytes(of: log) == flipped)
      TemporaryFolder.write(whole, to: log)
    }
    #expect(try start(data).value == 30)
  }

  @Test(
    "A log that was emptied, removed, cut or exchanged for zeros is refused", arguments: [tinyOptions, reservedOptions])
  func missing(options: SQLiteOptions) throws {
    let data = try killed("missing", options: options)
    let log = data + "/doubloon.db-wal"
    let whole = TemporaryFolder.bytes(of: log)
    let synced = Int(try LogInspection(path: log).soundBytes)
    for left in [32, Self.frame(20), synced - 1000] {
      edit(log) { $0 = Array(whole[..<left]) + [UInt8](repeating: 0, count: whole.count - left) }
      #expect(try start(data).refusal?.contains("had been synced") == true, "\(left) bytes, then zeros")
    }
    for left in [0, 10, 32, Self.frame(20), synced - 1] {
      edit(log) { $0 = Array(whole[..<left]) }
      #expect(try start(data).refusal?.contains("had been synced") == true, "\(left) bytes")
    }
    edit(log) { $0 = [UInt8](repeating: 0, count: whole.count) }
    #expect(try start(data).refusal != nil)
    FileCalls.remove(log)
    #expect(try start(data).refusal?.contains("is missing or empty") == true)
    TemporaryFolder.write(whole, to: log)
    #expect(try start(data).value == 30)
  }

  /// Looks into a store as an administrator does with `sqlite3`: it takes the log away when it ends.
  private func lookAround(_ data: String) throws {
    let shell = try SQLiteConnection(path: data + "/doubloon.db")
    #expect(try shell.texts("SELECT count(*) FROM node") != ["0"])
    shell.close()
    #expect(!FileCalls.exists(data + "/doubloon.db-wal"))
  }

  /// The rows of the tables that a process which died leaves to the next as they are.
  private func rows(of data: String) throws -> [String] {
    let connection = try SQLiteConnection(path: data + "/doubloon.db")
    defer { connection.close() }
    return try ["node", "commit_log", "ledger_entry", "execution", "event", "audit", "outbox"].flatMap { table in
      let columns = try connection.texts("SELECT 'quote(' || name || ')' FROM pragma_table_info('\(table)')")
      return try connection.texts("SELECT \(columns.joined(separator: " || ")) FROM \(table)")
    }
  }

  @Test("A log that another program has moved whole into the main file is no loss", arguments: ["plain", "a ?b#%20é"])
  func moved(name: String) throws {
    let data = try killed(name)
    try lookAround(data)
    #expect(throws: StorageError.self) { try SQLiteEngine.acceptLoss(in: data) }
    // Twice: a process that dies before it has written anything leaves the same behind.
    let mark = TemporaryFolder.bytes(of: data + "/doubloon.db-synced")
    #expect(mark.count == 48)
    #expect(try start(data).value == 30)
    #expect(!FileCalls.exists(data + "/doubloon.db-synced"))
    TemporaryFolder.write(mark, to: data + "/doubloon.db-synced")
    #expect(try start(data).value == 30)
  }

  @Test("A main file that holds less than the log that is gone, in whatever page, or something else, is refused")
  func movedInPart() throws {
    let engine = try SQLiteEngine(directory: folder.file("live"), options: tinyOptions)
    let committer = try Committer(engine)
    let store = folder.file("live/doubloon.db")
    var older: [UInt8] = []
    for value in 1...60 as ClosedRange<Int64> {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): true])
      if value % 20 == 2 { try Records(ns: committer.ns).putAll(into: committer, round: Int(value)) }
      try committer.session.commit()
      guard value == 50 else { continue }
      try engine.checkpoint()
      older = TemporaryFolder.bytes(of: store)
    }
    let data = folder.file("moved")
    try FileCalls.makeFolder(data)
    for name in Self.names {
      TemporaryFolder.write(TemporaryFolder.bytes(of: folder.file("live/\(name)")), to: "\(data)/\(name)")
    }
    engine.close()
    try lookAround(data)
    let mark = TemporaryFolder.bytes(of: data + "/doubloon.db-synced")
    let whole = TemporaryFolder.bytes(of: data + "/doubloon.db")
    #expect(try start(data).value == 60)
    let sound = try rows(of: data)
    /// The refusal of a start with these bytes and no log.
    func refusal(of bytes: [UInt8]) throws -> String? {
      TemporaryFolder.write(bytes, to: data + "/doubloon.db")
      TemporaryFolder.write(mark, to: data + "/doubloon.db-synced")
      let answer = try start(data)
      if answer.refusal != nil { #expect(TemporaryFolder.bytes(of: data + "/doubloon.db") == bytes) }
      return answer.refusal
    }
    #expect(try refusal(of: older)?.contains("it ends with transaction") == true)
    var refused = 0
    for page in stride(from: 0, to: older.count, by: 2048) where older[page..<page + 2048] != whole[page..<page + 2048] {
      var bytes = whole
      bytes.replaceSubrange(page..<page + 2048, with: older[page..<page + 2048])
      if let refusal = try refusal(of: bytes) {
        refused += 1
        #expect(refusal.contains("does not show that it has what they held"))
      } else {
        // Only bytes that hold nothing were others.
        #expect(try rows(of: data) == sound, "page \(page / 2048 + 1)")
      }
    }
    #expect(refused > 5)
    TemporaryFolder.write(whole, to: data + "/doubloon.db")
    let shell = try SQLiteConnection(path: data + "/doubloon.db")
    try shell.execute("UPDATE audit SET actor = 'admin:eve'")
    shell.close()
    #expect(try start(data).refusal?.contains("changed by another program") == true)
    TemporaryFolder.write(whole, to: data + "/doubloon.db")
    #expect(try start(data).value == 60)
  }

  @Test("No empty store is begun where traces of one are", arguments: ["log", "mark", "keys"])
  func traces(trace: String) throws {
    let data = try killed("traces", without: trace == "mark" ? nil : "doubloon.db-synced")
    let store = data + "/doubloon.db"
    if trace != "log" { edit(data + "/doubloon.db-wal") { $0 = [] } }
    if trace == "keys" {
      try FileCalls.makeFolder(data + "/keys")
      TemporaryFolder.write([1], to: data + "/keys/one.json")
    }
    for isThere in [true, false] {
      if isThere { edit(store) { $0 = [] } } else { FileCalls.remove(store) }
      let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: data, companions: ["keys"]) }
      #expect(error?.message.contains("this folder held a store") == true)
      #expect(TemporaryFolder.bytes(of: store).isEmpty)
    }
  }

  @Test("A main file whose tables were all in the log that was emptied is not taken for a new one")
  func noTables() throws {
    let data = try killed("tables", without: "doubloon.db-synced")
    FileCalls.remove(data + "/doubloon.db-wal")
    try FileCalls.makeFolder(data + "/keys")
    TemporaryFolder.write([1], to: data + "/keys/one.json")
    let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: data, companions: ["keys"]) }
    #expect(error?.message.contains("holds no tables") == true)
  }

  @Test("A last transaction that a power cut tore, in whatever way, is dropped, and what is written then survives the next")
  func torn() throws {
    let data = folder.file("torn")
    let engine = try SQLiteEngine(directory: data, options: tinyOptions)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    let synced = TemporaryFolder.bytes(of: data + "/doubloon.db-wal").count
    let mark = TemporaryFolder.bytes(of: data + "/doubloon.db-synced")
    var values: [PathBytes: Scalar?] = [PathBytes("/a"): 2]
    for index in 0..<40 { values[at("/c/\(index)")] = .string(String(repeating: "y", count: 900)) }
    try committer.put(values)
    try committer.session.write()
    let store = TemporaryFolder.bytes(of: data + "/doubloon.db")
    let log = TemporaryFolder.bytes(of: data + "/doubloon.db-wal")
    try #require(log.count > synced + 10 * 2072)
    var random = SplitMix(seed: 7)
    for round in 0..<40 {
      let copy = folder.file("torn\(round)")
      try FileCalls.makeFolder(copy)
      TemporaryFolder.write(store, to: copy + "/doubloon.db")
      // Blocks that the disk did not get hold what was there before.
      var bytes = log
      for block in stride(from: (synced + 511) / 512 * 512, to: bytes.count, by: 512)
      where round == 0 || Bool.random(using: &random) {
        for place in block..<min(block + 512, bytes.count) { bytes[place] = 0 }
      }
      if round % 3 == 1 { bytes = Array(bytes[..<Int.random(in: synced..<bytes.count, using: &random)]) }
      TemporaryFolder.write(bytes, to: copy + "/doubloon.db-wal")
      if round % 2 == 0 { TemporaryFolder.write(mark, to: copy + "/doubloon.db-synced") }
      let answer = try start(copy)
      #expect(answer.refusal == nil && (answer.value == 1 || answer.value == 2), "round \(round)")
    }
    engine.close()
  }

  @Test("A loss that is accepted keeps everything before it and the log as it was, and begins a new epoch")
  func accepted() throws {
    let data = try killed("accepted")
    let log = data + "/doubloon.db-wal"
    let error = #expect(throws: StorageError.self) { try SQLiteEngine.acceptLoss(in: data) }
    #expect(error?.code == .unsuitable)
    let middle = Self.frame(TemporaryFolder.bytes(of: log).count / 2072 / 2) + 100
    edit(log) { $0[middle] ^= 4 }
    let damaged = TemporaryFolder.bytes(of: log)
    let result = try SQLiteEngine.acceptLoss(in: data)
    #expect(result.loss.contains("is damaged at byte"))
    #expect(TemporaryFolder.bytes(of: try #require(result.kept)) == damaged)
    let engine = try SQLiteEngine(directory: data, options: tinyOptions)
    defer { engine.close() }
    #expect(engine.epoch == 2)
    let ns = try #require(try engine.read { try $0.namespaces() }.first).id
    let head = try engine.read { try $0.head(of: ns) }.revision.rawValue
    #expect((2...29).contains(head))
    #expect(try engine.read { try $0.value(in: ns, "/a") } == .int(head))
  }

  @Test("Giving up a loss that was cut off is no end of it: the store opens only with a new epoch")
  func acceptedInPart() throws {
    let data = try killed("accepted")
    let log = data + "/doubloon.db-wal"
    let whole = TemporaryFolder.bytes(of: log)
    edit(log) { $0 = Array(whole[..<Self.frame(whole.count / 2072 / 2)]) }
    // What is on the disk when the process dies before the epoch has begun.
    try DurableMark(path: data + "/doubloon.db-synced").write(.recovering)
    #expect(try start(data).refusal?.contains("cut off") == true)
    TemporaryFolder.write([1], to: log + ".damaged")
    #expect(try SQLiteEngine.acceptLoss(in: data).kept == log + ".damaged2")
    #expect(TemporaryFolder.bytes(of: log + ".damaged") == [1])
    let engine = try SQLiteEngine(directory: data, options: tinyOptions)
    defer { engine.close() }
    #expect(engine.epoch == 2)
  }

  @Test("A mark stays while another program keeps the log, and a writer that its disk has stopped may leave one")
  func keptMark() throws {
    let data = folder.file("kept")
    let engine = try SQLiteEngine(directory: data, options: tinyOptions)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    let shell = try SQLiteConnection(path: data + "/doubloon.db")
    #expect(try shell.texts("SELECT count(*) FROM node") == ["1"])
    engine.close()
    #expect(FileCalls.exists(data + "/doubloon.db-wal") && FileCalls.exists(data + "/doubloon.db-synced"))
    shell.close()
    #expect(!FileCalls.exists(data + "/doubloon.db-wal"))
    #expect(try start(data).value == 1)
    #expect(!FileCalls.exists(data + "/doubloon.db-synced"))
  }

  @Test("Every merge of the history waits for the writer's last batch to be durable, so the log proves what was")
  func merges() throws {
    let disk = FaultyDisk.shared
    var options = tinyOptions
    options.vfs = disk.name
    let data = folder.file("merges")
    let engine = try SQLiteEngine(directory: data, options: options)
    let committer = try Committer(engine)
    for value in 1...200 as ClosedRange<Int64> {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): true])
      try committer.session.commit()
    }
    try committer.put("/a", 201)
    try committer.session.write()
    let log = data + "/doubloon.db-wal"
    let before = TemporaryFolder.bytes(of: log).prefix(Int(try LogInspection(path: log).soundBytes))
    #expect(try engine.compact())
    #expect(try LogInspection(path: log).soundBytes > Int64(before.count))
    let copy = folder.file("merged")
    try FileCalls.makeFolder(copy)
    disk.copyDurable(from: data, to: copy)
    let isDurable = TemporaryFolder.bytes(of: copy + "/doubloon.db-wal").starts(with: before)
    #expect(isDurable)
    try committer.session.flush()
    engine.close()
    #expect(try start(copy).value == 201)
  }
}
