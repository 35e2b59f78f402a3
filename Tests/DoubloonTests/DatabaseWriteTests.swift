import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import Doubloon

/// Writing, transactions and presence, against a server over a real socket.
@Suite(.timeLimit(.minutes(10))) struct DatabaseWriteTests {
  @Test func aListenerSeesAWriteBeforeItIsSent() async throws {
    try await DatabaseClient.run { _, client in
      client.database.goOffline()
      let heard = Heard<String>()
      client.ref("w").observe(.value) { heard.add($0.text) }
      let receipt = client.ref("w").write(5)
      #expect(await heard.first(1) == ["5"])
      #expect(receipt.state == .queued)
      await #expect(throws: DatabaseError.timedOut) { try await receipt.acknowledged(timeout: 0.05) }
      client.database.goOnline()
      try await receipt.acknowledged()
      #expect(receipt.state == .acknowledged)
      #expect(heard.all == ["5"])
    }
  }

  @Test func statesOfAReceiptComeInOrder() async throws {
    try await DatabaseClient.run { _, client in
      client.database.goOffline()
      let receipt = client.ref("w").write(5)
      let states = receipt.states
      client.database.goOnline()
      var all: [WriteReceipt.State] = []
      for await state in states { all.append(state) }
      #expect(all == [.queued, .sent, .acknowledged])
    }
  }

  @Test func aTimestampIsGuessedAndThenTheServers() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("other").setValue(1)
      let heard = Heard<Double>()
      client.ref("at").observe(.value) { if let at = $0.double { heard.add(at) } }
      try await client.ref("at").setValue(ServerValue.timestamp())
      let times = await heard.first(2)
      #expect(times[1] == Double(APIServer.start))
      #expect(abs(times[0] - Double(APIServer.start)) < 60_000, "the offset of the server's clock was taken in")
    }
  }

  @Test func incrementsOfflineAreSeenAndDeliveredOnce() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("n").setValue(10)
      let heard = Heard<Int>()
      client.ref("n").observe(.value) { heard.add($0.int ?? -1) }
      _ = await heard.first(1)
      client.database.goOffline()
      let receipts = (0..<3).map { _ in client.ref("n").write(ServerValue.increment(1)) }
      #expect(await heard.first(4) == [10, 11, 12, 13])
      client.database.goOnline()
      for receipt in receipts { try await receipt.acknowledged() }
      #expect(try await server.value("/n.json") == "13")
      #expect(heard.all == [10, 11, 12, 13])
    }
  }

  @Test func aRefusedWriteIsTakenBack() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("v").setValue(1)
      try await server.setRules("{\".read\": true, \".write\": false}")
      let heard = Heard<Int>()
      client.ref("v").observe(.value) { heard.add($0.int ?? -1) }
      _ = await heard.first(1)
      do {
        try await client.ref("v").setValue(2)
        Issue.record("the rules deny it")
      } catch {
        #expect((error as NSError).code == 1)
      }
      #expect(await heard.first(3) == [1, 2, 1])
    }
  }

  @Test func anUpdateOfSeveralPathsIsOneEvent() async throws {
    try await DatabaseClient.run { server, client in
      let heard = Heard<String>()
      client.ref("m").observe(.value) { heard.add($0.text) }
      _ = await heard.first(1)
      try await client.ref("m").updateChildValues(["a/x": 1, "b": 2])
      #expect(await heard.first(2) == ["null", "{\"a\":{\"x\":1},\"b\":2}"])
      await #expect(throws: DatabaseError.self) { try await client.ref("m").updateChildValues(["a": 1, "a/x": 2]) }
      #expect(try await server.value("/m.json") == "{\"a\":{\"x\":1},\"b\":2}")
    }
  }

  @Test func aPriorityOfNothingIsRefused() async throws {
    try await DatabaseClient.run { _, client in
      await #expect(throws: DatabaseError.self) { try await client.ref("nothing").setPriority(3) }
      try await client.ref("some").setValue("x", andPriority: 3)
      let snapshot = try await client.ref("some").getData()
      #expect(snapshot.priority as? Int == 3)
    }
  }

  @Test func purgedWritesAreTakenBackAndFail() async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("p").setValue(1)
      let heard = Heard<Int>()
      client.ref("p").observe(.value) { heard.add($0.int ?? -1) }
      _ = await heard.first(1)
      client.database.goOffline()
      let receipt = client.ref("p").write(2)
      client.database.purgeOutstandingWrites()
      await #expect(throws: DatabaseError.writeCanceled) { try await receipt.acknowledged() }
      #expect(await heard.first(3) == [1, 2, 1])
    }
  }

  @Test func typesRoundTrip() async throws {
    struct Player: Codable, Equatable {
      enum Rank: String, Codable { case sailor, captain }
      var name: String
      var level: Int?
      var tags: [String]
      var rank: Rank
      var inner: [String: Double]
      @ServerTimestamp var at: Date? = nil
    }
    try await DatabaseClient.run { _, client in
      var player = Player(name: "Ann", level: nil, tags: ["a", "b"], rank: .captain, inner: ["x": 0.5])
      try await client.ref("player").setValue(from: player)
      player.at = Date(timeIntervalSince1970: Double(APIServer.start) / 1000)
      #expect(try await client.ref("player").getData().data(as: Player.self) == player)
    }
  }

  @Test func transactionsOfManyClientsAddUp() async throws {
    try await APIServer.run { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 {
          group.addTask {
            let client = DatabaseClient(port: server.port)
            for _ in 0..<10 {
              let (isCommitted, _) = try await client.ref("sum").runTransactionBlock { data in
                data.value = ((data.value as? Int) ?? 0) + 1
                return .success(withValue: data)
              }
              #expect(isCommitted)
            }
            client.database.goOffline()
          }
        }
        try await group.waitForAll()
      }
      #expect(try await server.value("/sum.json") == "60")
    }
  }

  @Test func aTransactionOnAnUnknownValueRunsAtMostTwice() async throws {
    try await DatabaseClient.run { server, client in
      _ = try await server.send("PUT", "/t.json", "41", headers: APIServer.admin)
      let runs = Heard<Int>()
      let (isCommitted, snapshot) = try await client.ref("t").transaction(as: Int.self) { value in
        runs.add(value ?? -1)
        return (value ?? 0) + 1
      }
      #expect(isCommitted && snapshot.int == 42 && runs.all.count <= 2)
      let (isDone, _) = try await client.ref("t").transaction(as: Int.self) { _ in nil }
      #expect(!isDone)
      #expect(try await server.value("/t.json") == "42")
    }
  }

  @Test func aTransactionThatTheRulesDenyIsNotTriedAgain() async throws {
    try await DatabaseClient.run { server, client in
      try await server.setRules("{\".read\": true, \".write\": false}")
      let runs = Heard<Int>()
      await #expect(throws: DatabaseError.self) {
        _ = try await client.ref("d").transaction(as: Int.self) { value in
          runs.add(value ?? -1)
          return 1
        }
      }
      #expect(runs.all == [-1])
    }
  }

  @Test func theServerDoesWhatWasToBeDoneWhenTheLinkIsLost() async throws {
    try await APIServer.run { server in
      let (leaver, watcher) = (DatabaseClient(port: server.port), DatabaseClient(port: server.port))
      try await leaver.ref("on/a").setValue("here")
      try await leaver.ref("on/b").setValue("here")
      try await leaver.ref("on/c").setValue("here")
      try await leaver.ref("on/a").onDisconnectSetValue("gone")
      try await leaver.ref("on/b").onDisconnectRemoveValue()
      try await leaver.ref("on").onDisconnectUpdateChildValues(["at": ServerValue.timestamp()])
      try await leaver.ref("on/c").onDisconnectSetValue("gone")
      try await leaver.ref("on/c").cancelDisconnectOperations()
      leaver.database.goOffline()
      try await watcher.ref("on").waits(for: "{\"a\":\"gone\",\"at\":\(APIServer.start),\"c\":\"here\"}")
      watcher.database.goOffline()
    }
  }

  @Test func theClientTellsWhetherItIsConnected() async throws {
    try await DatabaseClient.run { _, client in
      let heard = Heard<Bool>()
      client.ref(".info/connected").observe(.value) { heard.add($0.bool ?? false) }
      _ = await heard.first(2)
      client.database.goOffline()
      _ = await heard.first(3)
      client.database.goOnline()
      #expect(await heard.first(4) == [false, true, false, true])
    }
  }

  @Test func equalDataAfterAReconnectIsNoEvent() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("same").setValue(["a": 1, "b": ["c": 2.5]])
      let heard = Heard<String>()
      client.ref("same").observe(.value) { heard.add($0.text) }
      _ = await heard.first(1)
      client.database.goOffline()
      client.database.goOnline()
      try await client.ref("end").setValue(1)
      #expect(heard.all.count == 1)
      client.database.goOffline()
      _ = try await server.send("PUT", "/same/a.json", "7", headers: APIServer.admin)
      client.database.goOnline()
      #expect(await heard.first(2).last == "{\"a\":7,\"b\":{\"c\":2.5}}")
    }
  }
}
