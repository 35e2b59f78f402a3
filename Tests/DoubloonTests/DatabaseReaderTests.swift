import ClientRuntime
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Readers that take their time while a window changes 10,000 times. Nobody connects: what is written here is shown all the same.
@Suite(.timeLimit(.minutes(2))) struct DatabaseReaderTests {
  private static let changes = 10_000

  /// A client without a server.
  private static func client(_ lines: Locked<[String]> = Locked([])) -> DatabaseClient {
    let client = DatabaseClient(port: 1, log: ClientLog { _, line in lines.withLock { $0.append(line) } })
    client.database.goOffline()
    return client
  }

  /// Waits until the database has done what it was asked before.
  private static func settled(_ client: DatabaseClient) async {
    await withCheckedContinuation { continuation in client.database.core.post { _ in continuation.resume() } }
  }

  @Test("of 10,000 states that come while the reader is busy one is kept, the newest, and all others are let go")
  func states() async throws {
    let client = Self.client()
    client.ref("n").write(-1)
    var states = client.ref("n").snapshots.makeAsyncIterator()
    #expect(try await states.next()?.int == -1)
    for number in 0..<Self.changes { client.ref("n").write(number) }
    await Self.settled(client)
    #expect(try await states.next()?.int == Self.changes - 1)
    client.ref("n").write("after")
    #expect(try await states.next()?.string == "after", "nothing was between")
    client.database.purgeOutstandingWrites()
  }

  @Test("of 10,000 events of children that come while the reader is busy none is missing, and one line in the log says so")
  func children() async throws {
    let lines = Locked<[String]>([])
    let client = Self.client(lines)
    client.ref("list/k").write(-1)
    var events = client.ref("list").childEvents().makeAsyncIterator()
    for number in 0...Self.changes { client.ref("list/k").write(number) }
    await Self.settled(client)
    #expect(lines.copy.filter { $0.contains("child events wait to be read") }.count == 1)
    var (number, inOrder) = (-1, true)
    while number < Self.changes, let event = try await events.next() {
      switch event {
      case .added(let child, _): inOrder = inOrder && number == -1 && child.int == -1
      case .changed(let child, _):
        number += 1
        inOrder = inOrder && child.int == number
      case .moved, .removed: inOrder = false
      }
    }
    #expect(inOrder && number == Self.changes)
    client.database.purgeOutstandingWrites()
  }
}
