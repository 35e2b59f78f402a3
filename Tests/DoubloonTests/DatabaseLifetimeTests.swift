import ClientNIO
import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import Doubloon

/// What begins with an app, a listener or a connection, and ends with it.
@Suite(.timeLimit(.minutes(5))) struct DatabaseLifetimeTests {
  @Test("an app that is deleted is gone for the server, and lets go of its files: the next start goes on with what they hold")
  func deleted() async throws {
    try await AppServer.run { server in
      let lines = Locked<[String]>([])
      func start() -> (app: DoubloonApp, player: DatabaseReference) {
        let app = server.app { options in options.logHandler = { line in lines.withLock { $0.append(line) } } }
        let database = Doubloon.Database.database(app: app)
        database.isPersistenceEnabled = true
        return (app, database.reference(withPath: "players/ann"))
      }
      let first = start()
      try await first.player.child("state").onDisconnectSetValue("gone")
      try await first.player.child("state").setValue("here")
      first.player.child("level").keepSynced(true)
      try await first.player.child("level").setValue(7)
      await first.app.delete()
      let watcher = DatabaseClient(port: server.api.port)
      try await watcher.ref("players/ann/state").waits(for: "\"gone\"")
      watcher.database.goOffline()

      let second = start()
      second.player.database.goOffline()
      #expect(try await second.player.child("level").getData(source: .cache).int == 7)
      second.player.child("level").write(8)
      await second.app.delete()
      #expect(try await server.api.value("/players/ann/level.json") == "7")

      let third = start()
      try await third.player.child("end").setValue(true)
      #expect(try await server.api.value("/players/ann/level.json") == "8")
      await third.app.delete()
      #expect(!lines.copy.contains { $0.contains("on disk") }, "\(lines.copy)")
    }
  }

  /// Something of the app's that a listener shows.
  private final class Scene {}

  @Test("a listener holds what its closure holds until it is removed; a sequence listens as long as its task reads")
  func released() async throws {
    try await DatabaseClient.run { server, client in
      let ref = client.ref("a")
      let before = server.listenCount
      weak var scene: Scene?
      let handle: DatabaseHandle
      do {
        let shown = Scene()
        scene = shown
        handle = ref.observe(.value) { _ in withExtendedLifetime(shown) {} }
      }
      try await reached { server.listenCount == before + 1 }
      #expect(scene != nil)
      ref.removeObserver(withHandle: handle)
      try await reached { scene == nil }
      try await reached { server.listenCount == before }
      let reading = Task { for try await _ in ref.snapshots {} }
      try await reached { server.listenCount == before + 1 }
      reading.cancel()
      try await reading.value
      try await reached { server.listenCount == before }
    }
  }

  @Test("a transaction whose function takes more than ten seconds is a line in the log")
  func slowTransaction() async throws {
    try await AppServer.run { server in
      let lines = Locked<[String]>([])
      let app = server.app { options in options.logHandler = { line in lines.withLock { $0.append(line) } } }
      let database = Doubloon.Database.database(app: app)
      let clock = server.clock
      let (isCommitted, snapshot) = try await database.reference(withPath: "n").transaction(as: Int.self) { value in
        clock.move(11)
        return (value ?? 0) + 1
      }
      #expect(isCommitted && snapshot.int == 1)
      #expect(lines.copy.contains { $0.hasPrefix("warning") && $0.contains("more than 10 seconds") }, "\(lines.copy)")
      database.goOffline()
    }
  }

  @Test("what was to be done when the link is lost is done before what the client writes over the next one")
  func takeOver() async throws {
    try await APIServer.run { server in
      let watcher = DatabaseClient(port: server.port)
      let heard = Heard<String>()
      watcher.ref("on").observe(.value) { heard.add($0.text) }
      #expect(await heard.first(1) == ["null"])
      let sockets = WatchedSockets()
      let client = DatabaseClient(port: server.port, sockets: sockets)
      try await client.ref("on").onDisconnectSetValue("gone")
      try await client.ref("on").setValue("here")
      sockets.lose()
      try await client.ref("on").setValue("again")
      #expect(await heard.first(4) == ["null", "\"here\"", "\"gone\"", "\"again\""])
      for one in [watcher, client] { one.database.goOffline() }
    }
  }
}

/// Sockets of which a test sees what was sent, and which it can lose without the server's noticing.
final class WatchedSockets: SocketTransport {
  /// What was sent, in order.
  let sent = Locked<[String]>([])
  private let losing = Locked<(@Sendable () -> Void)?>(nil)

  /// For the client the connection is broken; the server believes that it stands.
  func lose() { losing.copy?() }

  func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection {
    let isLost = Locked(false)
    losing.withLock {
      $0 = {
        isLost.withLock { $0 = true }
        receive(.closed(TransportError(.disconnected, "The test has lost the connection.")))
      }
    }
    let socket = DatabaseClient.transport.open(server, target: target, timeout: timeout) { event in
      if !isLost.copy { receive(event) }
    }
    return WatchedConnection(socket, sent: sent)
  }
}

private final class WatchedConnection: SocketConnection {
  private let socket: any SocketConnection
  private let sent: Locked<[String]>

  init(_ socket: any SocketConnection, sent: Locked<[String]>) {
    self.socket = socket
    self.sent = sent
  }

  func send(_ text: [UInt8]) {
    sent.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
    socket.send(text)
  }

  func close() { socket.close() }
  func took(_ bytes: Int) { socket.took(bytes) }
}
