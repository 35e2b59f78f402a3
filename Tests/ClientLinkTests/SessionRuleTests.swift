import SyncModel
import TestSupport
import Testing
import TreeModel

@testable import ClientLink

/// What a session sends and when, rule by rule, with the server's part spoken by the test.
@Suite struct SessionRuleTests {
  /// A session that is connected, with no request sent yet.
  private static func connected(keys: Bool = false) -> SessionHarness {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/first")
    let extensions = keys ? ",\"x\":[\"k\"]" : ""
    harness.receive("{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":1000000,\"v\":\"5\",\"h\":\"h\",\"s\":\"s\"\(extensions)}}}")
    harness.answer(1)
    harness.sent = []
    harness.told = []
    return harness
  }

  @Test("a set over a transaction that waits for a connection ends it at once, and nothing of it is ever sent")
  func setOverQueuedTransaction() {
    var harness = Self.connected()
    harness.session.setOnline(false, at: harness.now)
    _ = harness.session.beginTransaction("/n", showsGuesses: true, at: harness.now)
    harness.pump()
    #expect(harness.finished == [])
    _ = harness.write("/n", 9)
    #expect(harness.finished == [.failed(.overridden, .absent)])
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    harness.hello()
    #expect(harness.sent.filter { $0.contains("\"a\":\"p\"") }.count == 1, "\(harness.sent)")
    #expect(!harness.sent.contains { $0.contains("\"h\":") && $0.contains("\"a\":\"p\"") })
  }

  @Test("a set over a transaction that is on its way lets the server's answer decide; it is not tried again")
  func setOverSentTransaction() {
    for status in ["ok", "datastale"] {
      var harness = Self.connected()
      _ = harness.session.beginTransaction("/first", showsGuesses: true, at: harness.now)
      harness.pump()
      let number = 2
      _ = harness.write("/first", 9)
      #expect(harness.finished == [])
      harness.answer(number, status)
      #expect(harness.finished == [status == "ok" ? .committed(1) : .failed(.overridden, .absent)])
      #expect(harness.sent.count == 2, "the transaction and the set: \(harness.sent)")
    }
  }

  @Test("a connection that is lost while a transaction is on its way ends it, and the view shows the server's value")
  func lostTransaction() {
    var harness = Self.connected()
    harness.data("first", "5")
    _ = harness.session.beginTransaction("/first", showsGuesses: true, at: harness.now)
    harness.pump()
    #expect(harness.events.map(\.node) == [5, 6])
    harness.lose()
    #expect(harness.finished == [.failed(.disconnected, 5)])
    #expect(harness.events.map(\.node) == [5, 6, 5])
    harness.advance(by: 5000)
    harness.hello(session: "s2")
    #expect(!harness.sent.suffix(1).contains { $0.contains("\"a\":\"p\"") }, "it is not sent again")
  }

  @Test("overlapping listens are one listen of the server's, as long as one above covers them")
  func overlapping() {
    var harness = Self.connected()
    harness.listen("/list/a")
    harness.listen("/list")
    harness.listen("/list/b/c")
    _ = harness.session.listen(
      ListenSpec(path: "/list", query: Query(order: .key, limit: .last(2))), to: [.value], at: harness.now)
    harness.pump()
    let listens = harness.sent.filter { $0.contains("\"a\":\"q\"") }
    #expect(listens.count == 2, "the first, and the one that covers all: \(harness.sent)")
    #expect(harness.sent.contains { $0.contains("\"a\":\"n\"") && $0.contains("/list/a") })
    harness.data("list", "{\"a\":1,\"b\":{\"c\":2},\"d\":3}")
    harness.answer(3)
    #expect(harness.events.count == 4)
  }

  @Test("a listener below data that is known hears of it before anything is sent")
  func cached() {
    var harness = Self.connected()
    harness.data("first", "{\"a\":1}")
    (harness.told, harness.sent) = ([], [])
    harness.listen("/first/a")
    #expect(harness.events == [TreeEvent(.value, node: 1)])
    #expect(harness.sent == [])
  }

  @Test("a priority that changes alone, or beside nodes, is a change of its node, and the connection stands")
  func priorities() {
    var harness = Self.connected()
    harness.data("first", "{\"a\":1,\"b\":{\"x\":1}}")
    harness.data("first/.priority", "4")
    #expect(harness.events.last?.node.priority == .int(4))
    let changes = #"{"a/.priority":"z","b/x":2,".priority":null,"c/.priority":1}"#
    harness.receive("{\"t\":\"d\",\"d\":{\"a\":\"m\",\"b\":{\"p\":\"first\",\"d\":\(changes)}}}")
    let expected = TreeNode.map(
      TreeMap([
        .init(key: Key(unchecked: "a"), node: .leaf(.int(1), priority: .string("z"))),
        .init(key: Key(unchecked: "b"), node: ["x": 2]),
      ]))
    #expect(harness.events.last?.node == expected)
    #expect(harness.closes == 0)
  }

  @Test("a query without an index is answered, and the log names the rule that is missing")
  func unindexed() {
    var harness = Self.connected()
    _ = harness.session.listen(
      ListenSpec(path: "/scores", query: Query(order: .child("/best"), limit: .last(1))), to: [.value], at: harness.now)
    harness.pump()
    harness.receive("{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"scores\",\"d\":{\"x\":{\"best\":2}},\"t\":1}}}")
    harness.answer(2, "ok", "{\"w\":[\"no_index\"]}")
    #expect(harness.events == [TreeEvent(.value, node: ["x": ["best": 2]])])
    #expect(
      harness.logs.contains { $0.contains("\".indexOn\"") && $0.contains("best") && $0.contains("/scores") }, "\(harness.logs)")
  }

  @Test("without a connection nothing is sent; writes wait, in their order, and go out with it")
  func offline() {
    var harness = Self.connected()
    harness.session.setOnline(false, at: harness.now)
    harness.pump()
    #expect(harness.closes == 1)
    for number in 1...3 { _ = harness.write(Path(keys: [Key(unchecked: "w\(number)")]), .leaf(.int(Int64(number)))) }
    harness.advance(by: 600_000)
    #expect(harness.sent == [] && harness.connects.count == 1)
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    harness.hello(session: "s2")
    #expect(harness.sent.filter { $0.contains("\"a\":\"p\"") }.map { $0.contains("/w") } == [true, true, true])
    #expect(harness.sent.suffix(3).map { String($0.suffix(8)) } == ["\"d\":1}}}", "\"d\":2}}}", "\"d\":3}}}"])
  }

  @Test("a server that knows keys gets one with each write, and the same with its repetition; another server gets none")
  func keys() {
    var harness = Self.connected(keys: true)
    _ = harness.write("/n", 1)
    let first = harness.sent.last ?? ""
    #expect(first.contains("\"k\":\"00000000000000010000000000000002-1\""), "\(first)")
    harness.lose()
    harness.advance(by: 5000)
    harness.receive(
      "{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":1000000,\"v\":\"5\",\"h\":\"h\",\"s\":\"t\",\"x\":[\"k\"]}}}")
    #expect(harness.sent.last?.contains("\"k\":\"00000000000000010000000000000002-1\"") == true)
    harness.lose()
    harness.advance(by: 5000)
    harness.hello(session: "u")
    #expect(harness.sent.last?.contains("\"k\"") == false)
  }

  @Test("a server that cannot be reached is a warning, once for each reason, until a connection was good")
  func unreachable() {
    var harness = SessionHarness()
    harness.setToken(nil)
    _ = harness.write("/w", 1)
    var warnings = 0
    for reason in ["Nobody listens.", "Nobody listens.", "It is no Doubloon.", "It is no Doubloon."] {
      harness.session.socketClosed(harness.now, because: reason)
      for output in harness.session.takeOutputs() { if case .log(true, _) = output { warnings += 1 } }
      harness.advance(by: 60_000)
    }
    #expect(warnings == 2)
    harness.hello()
    #expect(harness.sent.count == 1, "the write has waited")
  }

  @Test("a server that sends its clients on and on keeps none busy: after a few times the next try waits")
  func sentOnAndOn() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/a")
    for _ in 0..<100 { harness.receive("{\"t\":\"c\",\"d\":{\"t\":\"r\",\"d\":\"other.test\"}}") }
    #expect(harness.connects.count == 1 + LinkState.resetsMax)
    harness.advance(by: 1000)
    #expect(harness.connects.count == 2 + LinkState.resetsMax, "it is tried again, as after any failure")
    harness.hello()
    harness.advance(by: LinkState.goodAfter)
    harness.receive("{\"t\":\"c\",\"d\":{\"t\":\"r\",\"d\":\"third.test\"}}")
    #expect(harness.connects.last?.hasPrefix("third.test/") == true, "after a good while it is followed at once")
  }

  @Test("what is larger than any server's ends the connection, and is never kept")
  func tooLarge() {
    let ranges = String(repeating: "{\"s\":\"a\",\"m\":1},", count: 2000).dropLast()
    let session = String(repeating: "s", count: 2000)
    for text in [
      "{\"t\":\"d\",\"d\":{\"a\":\"rm\",\"b\":{\"p\":\"first\",\"d\":[\(ranges)]}}}",
      "{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":1,\"v\":\"5\",\"h\":\"h\",\"s\":\"\(session)\"}}}",
    ] {
      var harness = Self.connected()
      harness.receive(text)
      #expect(harness.closes == 1)
      #expect(harness.logs.contains { $0.contains("server of another kind") })
      harness.advance(by: 5000)
      #expect(harness.connects.last?.hasSuffix("&ls=s") == true, "\(harness.connects)")
    }
    let values = Array("{\"t\":\"c\",\"d\":[\(String(repeating: "0,", count: 1000))0]}".utf8)
    #expect(throws: ProtocolError.self) { try ServerMessage(values, valuesMax: 1000) }
    #expect(throws: Never.self) { try ServerMessage(values, valuesMax: 1004) }
  }

  @Test("what a server says in words is one line of the log, of a length that is read")
  func words() {
    var harness = Self.connected()
    let words = "first\\nfake warning: second\\u0007" + String(repeating: "x", count: 100_000)
    harness.receive("{\"t\":\"d\",\"d\":{\"a\":\"sd\",\"b\":{\"msg\":\"\(words)\"}}}")
    let line = harness.logs.last ?? ""
    #expect(line.hasPrefix("first fake warning: second x"))
    #expect(line.count == 500)
  }

  @Test("many writes that wait cost each the same", arguments: [1000])
  func many(count: Int) {
    var harness = Self.connected()
    harness.session.setOnline(false, at: harness.now)
    let ids = (0..<count).map { harness.session.write(.set(Path(keys: [Key(unchecked: "k\($0)")]), 1), at: harness.now) }
    harness.pump()
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    harness.hello(session: "s2")
    harness.answer(2)
    for number in 0..<count { harness.answer(3 + number) }
    #expect(ids.allSatisfy { harness.written[$0] == .some(nil) })
  }
}
