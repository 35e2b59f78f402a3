import ClientNIO
import ClientRuntime
import Dispatch
import Foundation
import ServerTestSupport
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// A client of a server that the test runs.
struct DatabaseClient {
  let database: Doubloon.Database

  static let transport = NIOTransport()

  init(
    port: Int, storageFolder: String? = nil, keepsData: Bool = false, tokens: (any DatabaseTokens)? = nil,
    clock: any ClientClock = SystemClock(), sockets: any SocketTransport = Self.transport,
    log: ClientLog = ClientLog { _, _ in }
  ) {
    database = Doubloon.Database(
      DatabaseEnvironment(
        server: ServiceAddress(host: "127.0.0.1", port: port, isSecure: false), namespace: "game", appID: "1:test",
        clock: clock, sockets: sockets,
        callbacks: CallbackQueue(queue: DispatchQueue(label: "test.callbacks"), clock: clock, log: log), log: log,
        storageFolder: storageFolder, tokens: tokens))
    database.isPersistenceEnabled = keepsData
  }

  func ref(_ path: String) -> DatabaseReference { database.reference(withPath: path) }

  /// Runs a test against a server and one client.
  static func run(_ test: (APIServer, DatabaseClient) async throws -> Void) async throws {
    try await APIServer.run { server in
      let client = DatabaseClient(port: server.port)
      try await test(server, client)
      client.database.goOffline()
    }
  }
}

/// What listeners were told, in order, and a way to wait for it.
final class Heard<Element: Sendable>: Sendable {
  private struct State {
    var all: [Element] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  func add(_ element: Element) {
    let ready = state.withLock { state in
      state.all.append(element)
      let ready = state.waiting.filter { $0.count <= state.all.count }
      state.waiting.removeAll { $0.count <= state.all.count }
      return ready.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  var all: [Element] { state.withLock(\.all) }

  /// The first elements, once there are so many.
  func first(_ count: Int) async -> [Element] {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.all.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
    return Array(all.prefix(count))
  }
}

extension DataSnapshot {
  /// The value as JSON text.
  var text: String { String(decoding: node.json(), as: UTF8.self) }
}

extension DatabaseReference {
  /// Waits for the value to be a JSON text.
  func waits(for text: String) async throws {
    for try await snapshot in snapshots where snapshot.text == text { return }
  }
}

extension APIServer {
  /// Sets the rules.
  func setRules(_ rules: String) async throws {
    let response = try await send("PUT", "/.settings/rules.json", "{\"rules\": \(rules)}", headers: Self.admin)
    #expect(response.status == 200, "\(response.body)")
  }
}
