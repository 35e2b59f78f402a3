import ClientRuntime
import Foundation
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Doubloon

/// What is kept on disk from one run of the app to the next.
@Suite(.timeLimit(.minutes(10))) struct DatabaseStoreTests {
  /// A client that keeps data, as an app that has just started.
  static func start(
    _ server: APIServer, _ folder: TemporaryFolder, isOnline: Bool = true, as player: TestPlayer? = nil,
    log: ClientLog = ClientLog { _, _ in }
  ) -> DatabaseClient {
    let client = DatabaseClient(port: server.port, storageFolder: folder.path, keepsData: true, tokens: player, log: log)
    if !isOnline { client.database.goOffline() }
    return client
  }

  private static func log(_ lines: Locked<[String]>) -> ClientLog {
    ClientLog { level, line in lines.withLock { $0.append("\(level): \(line)") } }
  }

  /// Ends a client as the end of its app does: its files are let go of.
  static func end(_ client: DatabaseClient) async { await client.database.shutDown() }

  @Test func pendingWritesAreSeenAfterARestartAndDeliveredOnceInOrder() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      _ = try await server.send("PUT", "/n.json", "10", headers: APIServer.admin)
      let first = Self.start(server, folder, isOnline: false)
      first.ref("a").write(["x": 1])
      first.ref("a").update(["y": 2])
      first.ref("n").write(ServerValue.increment(5))
      first.ref("at").write(ServerValue.timestamp())
      await Self.end(first)
      let second = Self.start(server, folder, isOnline: false)
      #expect(try await second.ref("a").getData(source: .cache).text == "{\"x\":1,\"y\":2}")
      #expect(try await second.ref("n").getData(source: .cache).int == 5)
      await Self.end(second)
      let third = Self.start(server, folder)
      try await third.ref("end").setValue(true)
      #expect(try await server.value("/a.json") == "{\"x\":1,\"y\":2}")
      #expect(try await server.value("/n.json") == "15")
      #expect(try await server.value("/at.json") == "\(APIServer.start)")
      await Self.end(third)
      let fourth = Self.start(server, folder)
      try await fourth.ref("end").setValue(false)
      #expect(try await server.value("/n.json") == "15", "nothing is delivered twice")
      await Self.end(fourth)
    }
  }

  @Test func whatWasListenedToIsThereWithoutAConnection() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let first = Self.start(server, folder)
      try await first.ref("list").setValue(["a": 1, "b": 2, "c": 3])
      try await first.ref("list").waits(for: "{\"a\":1,\"b\":2,\"c\":3}")
      let window = first.ref("list").queryOrderedByKey().queryLimited(toLast: 1)
      for try await snapshot in window.snapshots where snapshot.childrenCount == 1 { break }
      window.keepSynced(true)
      first.ref("list/a").keepSynced(true)
      try await first.ref("list/a").waits(for: "1")
      for try await snapshot in window.snapshots where snapshot.hasChild("c") { break }
      await Self.end(first)
      let second = Self.start(server, folder, isOnline: false)
      #expect(try await second.ref("list/a").getData().int == 1)
      try await second.ref("list/a").waits(for: "1")
      let again = second.ref("list").queryOrderedByKey().queryLimited(toLast: 1)
      #expect(try await again.getData(source: .cache).text == "{\"c\":3}")
      await #expect(throws: DatabaseError.offline) { _ = try await second.ref("other").getData(source: .cache) }
      await Self.end(second)
    }
  }

  @Test func anotherPlayerSeesAndSendsNothingOfTheFirst() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let player = TestPlayer("ann")
      let client = Self.start(server, folder, isOnline: false, as: player)
      let receipt = client.ref("secret").write("ann's")
      let mine = try await client.ref("secret").getData(source: .cache)
      #expect(mine.string == "ann's")
      player.become("bob")
      await #expect(throws: DatabaseError.writeCanceled) { try await receipt.acknowledged() }
      await #expect(throws: DatabaseError.offline) { _ = try await client.ref("secret").getData(source: .cache) }
      player.become("ann")
      let again = try await client.ref("secret").getData(source: .cache)
      #expect(again.string == "ann's", "it waited for her")
      await Self.end(client)
    }
  }

  @Test func aTornJournalKeepsTheWritesBefore() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let first = Self.start(server, folder, isOnline: false)
      first.ref("a").write(1)
      first.ref("b").write(2)
      await Self.end(first)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".writes") }
      let file = folder.file(try #require(files.first))
      let bytes = try #require(FileManager.default.contents(atPath: file))
      try bytes.dropLast(3).write(to: URL(fileURLWithPath: file))
      let second = Self.start(server, folder, isOnline: false)
      #expect(try await second.ref("a").getData(source: .cache).int == 1)
      await #expect(throws: DatabaseError.offline) { _ = try await second.ref("b").getData(source: .cache) }
      await Self.end(second)
    }
  }

  @Test func aFolderThatCannotBeUsedIsNoCrash() async throws {
    let folder = TemporaryFolder()
    try folder.write("no folder", to: "database")
    try await APIServer.run { server in
      let lines = Locked<[String]>([])
      let client = Self.start(server, folder, log: Self.log(lines))
      try await client.ref("a").setValue(1)
      #expect(try await client.ref("a").getData().int == 1)
      await Self.end(client)
      let errors = lines.copy.filter { $0.hasPrefix("error") }
      #expect(errors.count == 1 && errors[0].contains("Nothing is kept on disk"), "\(lines.copy)")
    }
  }

  @Test func aSecondProcessGoesOnInMemory() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let lines = Locked<[String]>([])
      let first = Self.start(server, folder)
      try await first.ref("a").setValue(1)
      let second = Self.start(server, folder, log: Self.log(lines))
      try await second.ref("b").setValue(2)
      #expect(try await first.ref("b").getData().int == 2)
      let errors = lines.copy.filter { $0.hasPrefix("error") }
      #expect(errors.count == 1 && errors[0].contains("in use by another process"), "\(lines.copy)")
      await Self.end(first)
      await Self.end(second)
    }
  }
}

/// A player of the test's choice, without a token.
final class TestPlayer: DatabaseTokens {
  private let state: Mutex<(uid: String, changed: (@Sendable (String?, String?) -> Void)?)>

  init(_ uid: String) { state = Mutex((uid, nil)) }

  func observe(_ changed: @escaping @Sendable (_ token: String?, _ uid: String?) -> Void) {
    let uid = state.withLock { state in
      state.changed = changed
      return state.uid
    }
    changed(nil, uid)
  }

  func become(_ uid: String) {
    let changed = state.withLock { state in
      state.uid = uid
      return state.changed
    }
    changed?(nil, uid)
  }

  func refresh() async {}
}
