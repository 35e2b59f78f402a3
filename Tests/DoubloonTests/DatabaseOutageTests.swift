import ClientRuntime
import Dispatch
import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// What becomes of writes and reads where there is no server, or another than expected; and of what a disk keeps.
@Suite(.timeLimit(.minutes(5))) struct DatabaseOutageTests {
  private static func app(at address: String, _ lines: Locked<[String]>) throws -> DoubloonApp {
    let options = FirebaseOptions(server: try webURL(address), apiKey: "k")
    options.storageFolder = "/nonexistent/folder"
    options.logHandler = { line in lines.withLock { $0.append(line) } }
    options.callbackQueue = DispatchQueue(label: "callbacks")
    return DoubloonApp(name: "outage", options: options, runtime: nil)
  }

  @Test("no server, a server of another kind, TLS where there is none: one line says what to do, and the write waits")
  func badServers() async throws {
    try await TinyServer.run({ _ in TinyServer.Answer(status: 200, body: Array("<html>Welcome to nginx!".utf8)) }) { tiny in
      let cases: [(String, String)] = [
        ("http://127.0.0.1:1", "Is the address right"), (tiny.address, "is that a Doubloon server"),
        (tiny.address.replacingOccurrences(of: "http:", with: "https:"), "is it http, not https"),
        ("http://no-such-host.invalid", "Is the address right"),
      ]
      for (address, words) in cases {
        let lines = Locked<[String]>([])
        let database = Doubloon.Database.database(app: try Self.app(at: address, lines))
        let receipt = database.reference(withPath: "a").write(1)
        try await reached { lines.copy.contains { $0.contains("cannot be reached") } }
        // Another test of this process may have asked for every line.
        let told = lines.copy.filter { $0.hasPrefix("warning") && $0.contains("cannot be reached") }
        #expect(told.count == 1 && told[0].contains("Writes wait"), "\(told)")
        #expect(told[0].contains(words), "\(address): \(told)")
        #expect(receipt.state == .queued)
        await #expect(throws: DatabaseError.timedOut) { try await receipt.acknowledged(timeout: 0.01) }
        let shown = try await database.reference(withPath: "a").getData(source: .cache)
        #expect(shown.int == 1, "the app goes on")
        database.goOffline()
      }
    }
  }

  @Test("a set ends a transaction on its place at once, connected or not, and the set stands")
  func setOverTransaction() async throws {
    try await DatabaseClient.run { server, client in
      client.database.goOffline()
      let transaction = Task { try await client.ref("n").transaction(as: Int.self) { ($0 ?? 0) + 1 } }
      var values = client.ref("n").snapshots.makeAsyncIterator()
      while try await values.next()?.int != 1 {}
      client.ref("n").write(9)
      let error = await failure { _ = try await transaction.value }
      #expect(error as? DatabaseError == .overriddenBySet)
      client.database.goOnline()
      try await client.ref("end").setValue(1)
      #expect(try await server.value("/n.json") == "9")
    }
  }

  @Test("a transaction sees and writes priorities, and integers beyond those of floating-point numbers, exactly")
  func exactTransactions() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("t").setValue(9_007_199_254_740_993, andPriority: 2)
      let (isCommitted, snapshot) = try await client.ref("t").runTransactionBlock { data in
        let (value, priority) = (data.value as? Int ?? 0, data.priority as? Int ?? 0)
        data.value = value + 2
        data.priority = priority + 1
        return .success(withValue: data)
      }
      #expect(isCommitted && snapshot.int == 9_007_199_254_740_995 && snapshot.priority as? Int == 3)
      #expect(try await server.value("/t.json?format=export") == "{\".value\":9007199254740995,\".priority\":3}")
      for step in [Int64.max, .min] {
        let (_, snapshot) = try await client.ref("big").transaction(as: Int64.self) { _ in step }
        #expect(snapshot.int == Int(step))
        #expect(try await server.value("/big.json") == "\(step)")
      }
    }
  }

  @Test("a transaction that is pending at the end of the app is gone at the next start, and the log has said so")
  func transactionsAreNotKept() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let lines = Locked<[String]>([])
      let first = DatabaseClient(
        port: server.port, storageFolder: folder.path, keepsData: true,
        log: ClientLog { _, line in lines.withLock { $0.append(line) } })
      first.database.goOffline()
      let (before, after) = (first.ref("w").write(1), Heard<Bool>())
      for _ in 0..<2 {
        first.ref("t").runTransactionBlock({ data in
          data.value = 5
          return .success(withValue: data)
        }) { _, isCommitted, _ in after.add(isCommitted) }
      }
      #expect(try await first.ref("t").getData(source: .cache).int == 5)
      #expect(before.state == .queued)
      await DatabaseStoreTests.end(first)
      #expect(lines.copy.filter { $0.contains("Transactions are not kept") }.count == 1)
      let second = DatabaseStoreTests.start(server, folder)
      try await second.ref("end").setValue(true)
      #expect(try await server.value("/.json") == "{\"end\":true,\"w\":1}")
      #expect(after.all == [])
      await DatabaseStoreTests.end(second)
    }
  }

  @Test("a cache over its size gives up what was not used for longest; what is kept in step stays")
  func pruning() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let first = DatabaseClient(port: server.port, storageFolder: folder.path)
      first.database.core.openStore(cacheBytesMax: 20_000)
      first.ref("kept").keepSynced(true)
      let text = String(repeating: "x", count: 4000)
      for name in ["kept", "a", "b", "c", "d", "e", "f"] {
        try await first.ref(name).setValue(text)
        for try await snapshot in first.ref(name).snapshots where snapshot.string == text {
          await withCheckedContinuation { continuation in
            first.database.core.post { core in
              core.store?.save(core: core)
              continuation.resume()
            }
          }
          break
        }
      }
      await DatabaseStoreTests.end(first)
      let second = DatabaseClient(port: server.port, storageFolder: folder.path)
      second.database.goOffline()
      second.database.core.openStore(cacheBytesMax: 20_000)
      for name in ["kept", "f"] { #expect(try await second.ref(name).getData(source: .cache).string == text, "\(name)") }
      await #expect(throws: DatabaseError.offline) { _ = try await second.ref("a").getData(source: .cache) }
      await DatabaseStoreTests.end(second)
    }
  }

  @Test(
    "data on disk that a flipped bit has damaged are fetched again; writes before such damage are kept",
    arguments: ["cache", "writes"])
  func flippedBit(kind: String) async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let first = DatabaseStoreTests.start(server, folder)
      first.ref("data").keepSynced(true)
      try await first.ref("data").setValue("text")
      try await first.ref("data").waits(for: "\"text\"")
      first.database.goOffline()
      first.ref("w1").write(1)
      first.ref("w2").write(2)
      await DatabaseStoreTests.end(first)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".\(kind)") }
      let file = folder.file(try #require(files.first))
      var bytes = try #require(FileManager.default.contents(atPath: file))
      bytes[bytes.count - 2] ^= 4
      try bytes.write(to: URL(fileURLWithPath: file))
      let lines = Locked<[String]>([])
      let second = DatabaseClient(
        port: server.port, storageFolder: folder.path, keepsData: true,
        log: ClientLog { _, line in lines.withLock { $0.append(line) } })
      try await second.ref("end").setValue(true)
      #expect(try await second.ref("data").getData().string == "text")
      #expect(try await server.value("/w1.json") == "1")
      #expect(try await server.value("/w2.json") == (kind == "writes" ? "null" : "2"))
      #expect(lines.copy.contains { $0.contains("damaged") })
      await DatabaseStoreTests.end(second)
    }
  }
}
