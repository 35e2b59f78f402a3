import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Clients whose connections break at any moment come to what the server has.
@Suite(.timeLimit(.minutes(10))) struct DatabaseConvergenceTests {
  @Test(arguments: [1, 2, 3] as [UInt64]) func brokenConnectionsLoseNothing(seed: UInt64) async throws {
    try await APIServer.run { server in
      let clients = [DatabaseClient(port: server.port), DatabaseClient(port: server.port)]
      for client in clients {
        client.ref("tree").keepSynced(true)
        client.ref("tree").queryOrderedByKey().queryLimited(toLast: 2).keepSynced(true)
      }
      var random = SplitMix64(seed: seed)
      var receipts: [WriteReceipt] = []
      for step in 0..<120 {
        let client = clients[Int.random(in: 0..<2, using: &random)]
        let key = "k\(Int.random(in: 0..<6, using: &random))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: client.database.goOffline()
        case 1, 2: client.database.goOnline()
        case 3: receipts.append(client.ref("tree").child(key).remove())
        case 4: receipts.append(client.ref("tree").update([key: step, "deep/\(key)": step]))
        default: receipts.append(client.ref("tree").child(key).write(["step": step]))
        }
        if step % 10 == 0 { _ = try await server.value("/tree.json") }
      }
      for client in clients { client.database.goOnline() }
      for receipt in receipts { try await receipt.acknowledged() }
      try await clients[0].ref("end").setValue(seed)
      try await clients[1].ref("end").setValue(seed)
      let expected = try await server.value("/tree.json")
      for client in clients {
        try await client.ref("tree").waits(for: expected)
        let last = try await client.ref("tree").queryOrderedByKey().queryLimited(toLast: 2).getData(source: .server)
        for try await snapshot in client.ref("tree").queryOrderedByKey().queryLimited(toLast: 2).snapshots
        where snapshot.text == last.text { break }
        client.database.goOffline()
      }
    }
  }

  @Test("of 10,000 changes a reader that is busy meanwhile sees the newest, and none of the others waits in memory")
  func slowReader() async throws {
    try await DatabaseClient.run { _, client in
      var states = client.ref("n").snapshots.makeAsyncIterator()
      _ = try await states.next()
      client.database.goOffline()
      for number in 0..<10_000 { client.ref("n").write(number) }
      #expect(try await client.ref("n").getData(source: .cache).int == 9999, "all of them are made")
      #expect(try await states.next()?.int == 9999)
      client.database.purgeOutstandingWrites()
      client.database.goOnline()
      try await client.ref("n").setValue("last")
      #expect(try await states.next()?.string == "last")
    }
  }
}
