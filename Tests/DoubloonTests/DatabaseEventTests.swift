import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import Doubloon

/// What listeners are told in which order, and what the server is asked for it.
@Suite(.timeLimit(.minutes(5))) struct DatabaseEventTests {
  /// The orders that a query can have.
  enum Order: String, CaseIterable {
    case key, value, child, priority

    func query(_ ref: DatabaseReference) -> DatabaseQuery {
      switch self {
      case .key: ref.queryOrderedByKey()
      case .value: ref.queryOrderedByValue()
      case .child: ref.queryOrdered(byChild: "n")
      case .priority: ref.queryOrderedByPriority()
      }
    }

    /// Writes a child that stands so far behind in the order; of keys the name alone counts.
    func write(_ rank: Int, to child: DatabaseReference) async throws {
      switch self {
      case .key, .value: try await child.setValue(rank)
      case .child: try await child.setValue(["n": rank])
      case .priority: try await child.setValue("text", andPriority: rank)
      }
    }
  }

  @Test("children come, move, change and go in each order, each with the child before it", arguments: Order.allCases)
  func order(_ order: Order) async throws {
    try await DatabaseClient.run { _, client in
      let ref = client.ref("list")
      try await order.write(1, to: ref.child("a"))
      try await order.write(2, to: ref.child("b"))
      let heard = Heard<String>()
      let query = order.query(ref)
      for (type, name) in [(DataEventType.childAdded, "+"), (.childChanged, "~"), (.childMoved, ">"), (.childRemoved, "-")] {
        query.observe(type, andPreviousSiblingKeyWith: { heard.add("\(name)\($0.key ?? "")<\($1 ?? "")") })
      }
      #expect(await heard.first(2) == ["+a<", "+b<a"])
      try await order.write(3, to: ref.child("a"))
      try await order.write(0, to: ref.child("c"))
      try await ref.child("b").removeValue()
      let ranked = ["+a<", "+b<a", ">a<b", "~a<b", "+c<", "-b<"]
      let expected = order == .key ? ["+a<", "+b<a", "~a<", "+c<b", "-b<"] : ranked
      #expect(await heard.first(expected.count) == expected)
      try await client.ref("end").setValue(true)
      #expect(heard.all.count == expected.count, "what the server repeats is no event: \(heard.all)")
    }
  }

  @Test("the same number is the same, whole or with a point: no event")
  func equal() async throws {
    try await DatabaseClient.run { _, client in
      let heard = Heard<Double>()
      try await client.ref("n").setValue(1)
      client.ref("n").observe(.value) { heard.add($0.double ?? -1) }
      #expect(await heard.first(1) == [1])
      for same in [1.0, 1] as [any Sendable] { try await client.ref("n").setValue(same) }
      try await client.ref("n").setValue(2.5)
      #expect(await heard.first(2) == [1, 2.5])
    }
  }

  @Test("listeners at a place, in it and on windows of it are one listen of the server's")
  func oneListen() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("list").setValue(["a": 1, "d": 3])
      try await client.ref("list/b/c").setValue(2)
      let before = server.listenCount
      let heard = Heard<String>()
      for path in ["list/a", "list", "list/b/c", "list/d"] { client.ref(path).observe(.value) { _ in heard.add(path) } }
      client.ref("list").queryOrderedByKey().queryLimited(toLast: 1).observe(.value) { _ in heard.add("last") }
      try await reached { Set(heard.all).count == 5 }
      try await client.ref("end").setValue(true)
      try await reached { server.listenCount == before + 1 }
    }
  }

  @Test("a read asks the server, but not for what a listener keeps up to date; without a connection it says what is missing")
  func reads() async throws {
    try await APIServer.run { server in
      let sockets = WatchedSockets()
      let client = DatabaseClient(port: server.port, sockets: sockets)
      func asked() -> Int { sockets.sent.copy.count { $0.contains("\"a\":\"g\"") } }
      try await client.ref("r").setValue(1)
      #expect(try await client.ref("r").getData().int == 1)
      #expect(asked() == 1)
      client.ref("r").keepSynced(true)
      try await client.ref("r").waits(for: "1")
      #expect(try await client.ref("r").getData().int == 1)
      #expect(asked() == 1, "it is known")
      #expect(try await client.ref("r").getData(source: .server).int == 1)
      #expect(asked() == 2)
      client.database.goOffline()
      let error = await failure { _ = try await client.ref("other").getData() }
      #expect(error?.localizedDescription == "client offline with no active listeners and no matching disk cache entries")
    }
  }

  @Test("a timestamp is shown as the server's clock is thought to stand, however wrong the device's is, and then as it stands")
  func timestamp() async throws {
    try await AppServer.run { server in
      server.clock.move(500)
      let database = Doubloon.Database.database(app: server.app())
      try await database.reference(withPath: "other").setValue(1)
      let offset = try await database.reference(withPath: ".info/serverTimeOffset").getData()
      #expect(offset.int == -500_000)
      server.clock.move(0.5)
      let heard = Heard<Double>()
      let ref = database.reference(withPath: "at")
      ref.observe(.value) { if let at = $0.double { heard.add(at) } }
      try await ref.setValue(Doubloon.ServerValue.timestamp())
      let start = Double(APIServer.start)
      #expect(await heard.first(2) == [start + 500, start])
      database.goOffline()
    }
  }
}
