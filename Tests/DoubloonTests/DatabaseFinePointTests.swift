import ClientNIO
import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import Doubloon

/// What is easily overlooked: writes that contradict themselves, transactions that write nothing or show nothing, and where a
/// client comes back to.
@Suite(.timeLimit(.minutes(5))) struct DatabaseFinePointTests {
  @Test("an update of a place and of one in it is refused at once, and nothing of it is shown or sent")
  func contradiction() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("a").setValue(1)
      let receipt = client.ref("").update(["a": 2, "a/b": 3])
      guard case .refused(.invalidData(let reason)) = receipt.state else {
        Issue.record("\(receipt.state)")
        return
      }
      #expect(reason.contains("a/b"))
      try await client.ref("end").setValue(true)
      #expect(try await server.value("/a.json") == "1")
    }
  }

  @Test("a transaction that does not want to write returns what is there, and writes nothing")
  func abort() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("n").setValue(5)
      client.ref("n").keepSynced(true)
      try await client.ref("n").waits(for: "5")
      let (isCommitted, snapshot) = try await client.ref("n").runTransactionBlock { data in
        data.value = 6
        return .abort()
      }
      #expect(!isCommitted && snapshot.int == 5)
      #expect(try await server.value("/n.json") == "5")
    }
  }

  @Test("a transaction without local events is shown when the server has taken it, once")
  func withoutLocalEvents() async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("n").setValue(1)
      let (heard, finished) = (Heard<Int>(), Heard<Bool>())
      client.ref("n").observe(.value) { heard.add($0.int ?? -1) }
      #expect(await heard.first(1) == [1])
      client.database.goOffline()
      client.ref("n").runTransactionBlock(
        { data in
          data.value = (data.value as? Int ?? 0) + 1
          return .success(withValue: data)
        }, andCompletionBlock: { _, isCommitted, _ in finished.add(isCommitted) }, withLocalEvents: false)
      #expect(try await client.ref("n").getData(source: .cache).int == 1)
      client.database.goOnline()
      #expect(await finished.first(1) == [true])
      #expect(await heard.first(2) == [1, 2])
      try await client.ref("end").setValue(true)
      #expect(heard.all == [1, 2])
    }
  }
  @Test("the host that a server names is where the next connection goes, until the app ends: on disk there is nothing of it")
  func namedHost() async throws {
    let folder = TemporaryFolder()
    try await APIServer.run { server in
      let sockets = NamingSockets(port: server.port)
      let first = DatabaseClient(port: server.port, storageFolder: folder.path, keepsData: true, sockets: sockets)
      first.ref("a").keepSynced(true)
      try await first.ref("a").setValue(1)
      first.database.goOffline()
      first.database.goOnline()
      try await first.ref("a").setValue(2)
      #expect(sockets.hosts.copy == ["127.0.0.1", NamingSockets.named])
      await DatabaseStoreTests.end(first)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { folder.path + "/" + $0 }
      let contents = files.compactMap { FileManager.default.contents(atPath: $0) }
      #expect(contents.contains { !$0.isEmpty }, "data was kept: \(files)")
      for content in contents { #expect(content.range(of: Data(NamingSockets.named.utf8)) == nil) }
      let again = NamingSockets(port: server.port)
      let second = DatabaseClient(port: server.port, storageFolder: folder.path, keepsData: true, sockets: again)
      try await second.ref("a").setValue(3)
      #expect(again.hosts.copy == ["127.0.0.1"])
      await DatabaseStoreTests.end(second)
    }
  }
}

/// Sockets of a server that names another host in its greeting, and answers there, too.
final class NamingSockets: SocketTransport {
  static let named = "elsewhere.test"

  /// Where connections were asked for, in their order.
  let hosts = Locked<[String]>([])
  private let port: Int

  init(port: Int) { self.port = port }

  func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection {
    hosts.withLock { $0.append(server.host) }
    let real = ServiceAddress(host: "127.0.0.1", port: port, isSecure: false)
    return DatabaseClient.transport.open(real, target: target, timeout: timeout) { [port] event in
      guard case .text(let bytes) = event else { return receive(event) }
      let text = String(decoding: bytes, as: UTF8.self)
      let greeting = text.replacing("\"h\":\"127.0.0.1:\(port)\"", with: "\"h\":\"\(Self.named)\"")
      receive(.text(Array(greeting.utf8)))
    }
  }
}
