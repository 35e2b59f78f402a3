import Foundation
import ServerTestSupport
import Testing

@testable import Doubloon

/// Reading and listening, against a server over a real socket.
@Suite(.timeLimit(.minutes(10))) struct DatabaseReadTests {
  @Test func anAbsentPlaceIsOneEventWithNSNull() async throws {
    try await DatabaseClient.run { _, client in
      let heard = Heard<Bool>()
      client.ref("nothing").observe(.value) { heard.add($0.value is NSNull) }
      _ = await heard.first(1)
      try await client.ref("elsewhere").setValue(1)
      #expect(heard.all == [true])
    }
  }

  @Test func valuesCastAsOnApplesSystems() async throws {
    try await DatabaseClient.run { _, client in
      let ref = client.ref("values")
      try await ref.setValue([
        "int": 3, "double": 2.5, "bool": true, "text": "a", "big": Int64.max, "odd": 9_007_199_254_740_993,
      ])
      let snapshot = try await ref.getData()
      let map = try #require(snapshot.value as? [String: Any])
      #expect(map["int"] as? Int == 3)
      #expect(map["int"] as? Double == 3)
      #expect(map["double"] as? Double == 2.5)
      #expect(map["bool"] as? Bool == true)
      #expect(map["text"] as? String == "a")
      #expect((map["big"] as? NSNumber)?.int64Value == .max)
      #expect(map["odd"] as? Int == 9_007_199_254_740_993)
      #expect(snapshot.value as? NSDictionary != nil)
      try await ref.setValue(["a": 1, "b": 2])
      #expect(try await ref.getData().value as? [String: Int] == ["a": 1, "b": 2])
    }
  }

  @Test(
    arguments: [
      (["0": "a", "1": "b", "3": "d"], ["a", "b", nil, "d"]), (["1": "x"], [nil, "x"]), (["5": "x"], nil),
      (["3": "x", "03": "y"], nil),
    ] as [([String: String], [String?]?)])
  func listLikeMapsAreArrays(map: [String: String], list: [String?]?) async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("list").setValue(map)
      let value = try await client.ref("list").getData().value
      #expect((value as? [Any])?.map { $0 as? String } == list)
      #expect((value as? [Any])?.contains { !($0 is String || $0 is NSNull) } != true)
      if list == nil { #expect(value as? [String: String] == map) }
    }
  }

  @Test func childrenAreCountedInTheQuerysOrder() async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("c").setValue(["x": 3, "y": 1, "z": 2])
      // Once, the server answers only by an index; a listener is told that there is none, and gets what it asked for.
      await #expect(throws: DatabaseError.self) { _ = try await client.ref("c").queryOrderedByValue().getData() }
      var states = client.ref("c").queryOrderedByValue().snapshots.makeAsyncIterator()
      let snapshot = try #require(try await states.next())
      #expect(snapshot.children.allObjects.compactMap { ($0 as? DataSnapshot)?.key } == ["y", "z", "x"])
      #expect(snapshot.childSnapshots.map(\.key) == ["y", "z", "x"])
      var keys: [String?] = []
      for child in snapshot.children { keys.append((child as? DataSnapshot)?.key) }
      #expect(keys == ["y", "z", "x"])
      #expect(snapshot.childrenCount == 3 && snapshot.hasChild("x") && !snapshot.hasChild("w"))
    }
  }

  @Test func childEventsComeInOrderWithTheChildBefore() async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("order").setValue(["a": ["n": 1], "b": ["n": 2]])
      let heard = Heard<String>()
      let query = client.ref("order").queryOrdered(byChild: "n")
      for (type, name) in [(DataEventType.childAdded, "+"), (.childChanged, "~"), (.childMoved, ">"), (.childRemoved, "-")] {
        query.observe(type, andPreviousSiblingKeyWith: { heard.add("\(name)\($0.key ?? "")<\($1 ?? "")") })
      }
      #expect(await heard.first(2) == ["+a<", "+b<a"])
      try await client.ref("order/a/n").setValue(3)
      try await client.ref("order/b").removeValue()
      #expect(await heard.first(5) == ["+a<", "+b<a", ">a<b", "~a<b", "-b<"])
    }
  }

  @Test func aWindowOfTheLastTwoEvictsAndPullsIn() async throws {
    try await DatabaseClient.run { _, client in
      try await client.ref("w").setValue(["a": 1, "b": 2])
      let heard = Heard<String>()
      let query = client.ref("w").queryOrderedByKey().queryLimited(toLast: 2)
      query.observe(.childAdded) { heard.add("+\($0.key ?? "")") }
      query.observe(.childRemoved) { heard.add("-\($0.key ?? "")") }
      _ = await heard.first(2)
      try await client.ref("w/c").setValue(3)
      #expect(await heard.first(4) == ["+a", "+b", "-a", "+c"])
      try await client.ref("w/c").removeValue()
      #expect(await heard.first(6).suffix(2) == ["-c", "+a"])
    }
  }

  @Test func aDeniedListenerIsToldOnceAndASequenceThrows() async throws {
    try await DatabaseClient.run { server, client in
      try await server.setRules("{\".read\": false, \".write\": true}")
      let heard = Heard<Int>()
      client.ref("secret").observe(.value, with: { _ in }, withCancel: { heard.add(($0 as NSError).code) })
      #expect(await heard.first(1) == [1])
      await #expect(throws: DatabaseError.self) { for try await _ in client.ref("secret").snapshots {} }
      await #expect(throws: DatabaseError.self) { _ = try await client.ref("secret").getData() }
      #expect(heard.all == [1])
    }
  }

  @Test func rulesThatChangeEndASequence() async throws {
    try await DatabaseClient.run { server, client in
      var count = 0
      await #expect(throws: DatabaseError.self) {
        for try await _ in client.ref("open").snapshots {
          count += 1
          if count == 1 { try await server.setRules("{\".read\": false, \".write\": true}") }
        }
      }
      #expect(count == 1)
    }
  }

  @Test func sourcesOfReadsAreKept() async throws {
    try await DatabaseClient.run { server, client in
      try await client.ref("r").setValue("x")
      await #expect(throws: DatabaseError.offline) { _ = try await client.ref("r").getData(source: .cache) }
      #expect(try await client.ref("r").getData().string == "x")
      client.ref("r").keepSynced(true)
      try await client.ref("r").waits(for: "\"x\"")
      client.database.goOffline()
      #expect(try await client.ref("r").getData(source: .cache).string == "x")
      #expect(try await client.ref("r").getData().string == "x")
      await #expect(throws: DatabaseError.offline) { _ = try await client.ref("r").getData(source: .server) }
    }
  }

  @Test func longTextsAndBothSpellingsOfAKeySurvive() async throws {
    try await DatabaseClient.run { server, client in
      let long = String(repeating: "a😀é", count: 150_000)
      try await client.ref("long").setValue(long)
      let other = DatabaseClient(port: server.port)
      try await other.ref("begun").setValue(true)
      #expect(try await other.ref("long").getData().string == long)
      try await client.ref("keys").setValue(["\u{E9}": 1])
      try await client.ref("keys/e\u{301}").setValue(2)
      #expect(try await other.ref("keys").getData().childrenCount == 2)
      other.database.goOffline()
    }
  }

  @Test(arguments: ["a//b.c", "x#y", "a$", "[", String(repeating: "k", count: 800), String(repeating: "d/", count: 40)])
  func illegalPathsFailAndNeverTrap(path: String) async throws {
    let ref = DatabaseClient(port: 1).ref(path)
    await #expect(throws: DatabaseError.self) { try await ref.setValue(1) }
    await #expect(throws: DatabaseError.self) { _ = try await ref.child("x").getData() }
    #expect(ref.parent == nil)
  }

  @Test func queriesThatAreNoneFailWithAReason() async throws {
    let ref = DatabaseClient(port: 1).ref("q")
    let queries = [
      ref.queryOrderedByKey().queryOrderedByValue(), ref.queryLimited(toFirst: 0),
      ref.queryOrderedByKey().queryStarting(atValue: 3),
      ref.queryOrderedByValue().queryEqual(toValue: 1).queryStarting(atValue: 2), ref.queryLimited(toLast: 1 << 31),
      ref.queryLimited(toFirst: 1).queryLimited(toLast: 1),
    ]
    for query in queries {
      do {
        _ = try await query.getData()
        Issue.record("a query that is none was asked")
      } catch DatabaseError.invalidQuery(let reason) {
        #expect(!reason.isEmpty)
      }
    }
  }
}
