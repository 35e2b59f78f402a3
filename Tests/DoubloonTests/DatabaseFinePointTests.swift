import ServerTestSupport
import Testing

@testable import Doubloon

/// What is easily overlooked: writes that contradict themselves, and transactions that write nothing or show nothing.
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
}
