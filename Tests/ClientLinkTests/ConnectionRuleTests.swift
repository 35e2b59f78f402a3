import SyncModel
import Testing
import TreeModel

@testable import ClientLink

/// When a session connects and when it does not, and what it says of refusals, with the server's part spoken by the test.
@Suite struct ConnectionRuleTests {
  /// A session that is connected as a player.
  private static func connected(token: String? = "a.b.c") -> SessionHarness {
    var harness = SessionHarness()
    harness.setToken(token)
    harness.listen("/a")
    harness.hello()
    harness.answer(1)
    if token != nil { harness.answer(2) }
    (harness.sent, harness.told) = ([], [])
    return harness
  }

  /// How long the session waits before it tries again, in milliseconds.
  private static func wait(_ harness: borrowing SessionHarness) -> Int64 {
    (harness.session.deadline ?? 0) - harness.now.uptime
  }

  @Test("a server that wants no more of this client is left alone until the app connects again")
  func shutdown() {
    var harness = Self.connected()
    harness.receive("{\"t\":\"c\",\"d\":{\"t\":\"s\",\"d\":\"maintenance\"}}")
    #expect(harness.closes == 1)
    #expect(harness.logs.contains { $0.contains("wants no more") && $0.contains("maintenance") })
    harness.advance(by: 3_600_000)
    _ = harness.write("/w", 1)
    #expect(harness.connects.count == 1, "an hour later still nothing")
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    #expect(harness.connects.count == 2)
    harness.hello(session: "s2")
    harness.answer(3)
    #expect(harness.sent.last?.contains("\"p\":\"/w\"") == true, "the write has waited: \(harness.sent)")
  }

  @Test("an app that connects again does not wait for the next try; one that is connected stays so")
  func again() {
    var harness = Self.connected(token: nil)
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    #expect(harness.closes == 0 && harness.connects.count == 1)
    for _ in 0..<12 {
      harness.lose()
      let wait = Self.wait(harness)
      harness.advance(by: wait)
    }
    harness.lose()
    let tries = harness.connects.count
    let long = Self.wait(harness)
    #expect(long >= 5000, "it would wait")
    harness.session.setOnline(true, at: harness.now)
    harness.pump()
    #expect(harness.connects.count == tries + 1)
    harness.lose()
    let short = Self.wait(harness)
    #expect(short <= 1000, "and waits begin again")
  }

  @Test("a token that the server takes back is replaced on a connection of its own; what waits goes out behind the new one")
  func takenBack() {
    var harness = Self.connected()
    harness.receive("{\"t\":\"d\",\"d\":{\"a\":\"ac\",\"b\":{\"s\":\"expired_token\",\"d\":\"Auth token is expired\"}}}")
    #expect(harness.refreshes == 1 && harness.closes == 1)
    #expect(harness.logs.contains { $0.contains("Auth token is expired") })
    _ = harness.write("/w", 1)
    harness.setToken("d.e.f")
    harness.advance(by: 2000)
    harness.hello(session: "s2")
    #expect(harness.sent == [#"{"t":"d","d":{"r":3,"a":"auth","b":{"cred":"d.e.f"}}}"#])
    harness.answer(3)
    #expect(harness.sent.dropFirst().map { $0.contains("\"a\":\"q\"") } == [true, false], "\(harness.sent)")
    #expect(harness.sent.last?.contains("\"p\":\"/w\"") == true)
  }

  @Test("after three refused tokens in a row only the long wait is left, until one is taken")
  func refusedTokens() {
    var harness = SessionHarness()
    harness.setToken("a.b.c")
    harness.listen("/a")
    var waits: [Int64] = []
    for number in 1...4 {
      harness.hello()
      harness.answer(number, "invalid_token", "\"Invalid token\"")
      let wait = Self.wait(harness)
      waits.append(wait)
      harness.advance(by: wait)
    }
    #expect(waits[0] <= 1000 && waits[1] <= 1300, "\(waits)")
    #expect(waits[2] >= 9000 && waits[3] >= 9000, "\(waits)")
    #expect(harness.refreshes == 4)
    harness.hello()
    harness.answer(5)
    harness.advance(by: LinkState.goodAfter)
    harness.lose()
    #expect(harness.connects.count == 6, "a connection that was good is opened again at once")
  }

  @Test(
    "data that comes before an earlier listen of the place is answered may be of either: it is shown, and asked for again by its hash",
    arguments: [true, false])
  func listensInARow(isOfTheSecond: Bool) {
    var harness = Self.doubting()
    // The answers to both wait behind writes; the data does not.
    harness.answer(3)
    harness.answer(4)
    #expect(harness.events.map(\.node) == [7])
    #expect(harness.sent == [#"{"t":"d","d":{"r":5,"a":"n","b":{"p":"/t"}}}"#])
    harness.data("t", "5")
    #expect(harness.events.map(\.node) == [7], "what comes before that is ended is looked at afterwards")
    harness.answer(5)
    let hash = TreeNode.leaf(.int(7)).dataHash
    #expect(harness.sent.last == "{\"t\":\"d\",\"d\":{\"r\":6,\"a\":\"q\",\"b\":{\"p\":\"/t\",\"h\":\"\(hash)\"}}}")
    let write = harness.write("/w", 1)
    harness.answer(7)
    #expect(harness.written[write] == nil, "answers to writes wait for it")
    if !isOfTheSecond { harness.data("t", "null") }
    harness.answer(6)
    #expect(harness.written[write] == .some(nil))
    #expect(harness.events.map(\.node) == (isOfTheSecond ? [7] : [7, .absent]))
    #expect(harness.sent.count == 3, "once is enough: \(harness.sent)")
  }

  @Test("a listen that is to be asked for again is sent with a new connection")
  func heldListenOfALostConnection() {
    var harness = Self.doubting()
    harness.answer(3)
    harness.answer(4)
    harness.lose()
    harness.advance(by: 2000)
    (harness.sent, harness.told) = ([], [])
    harness.hello()
    #expect(harness.sent.count { $0.contains(#""p":"/t""#) } == 1, "\(harness.sent)")
    harness.data("t", "8")
    #expect(harness.events.map(\.node) == [8])
  }

  /// A place that was listened to, and is again: the end of the first listen (3) and the second (4) are not answered, and data came.
  private static func doubting() -> SessionHarness {
    var harness = connected(token: nil)
    let first = harness.session.listen(ListenSpec(path: "/t"), to: [.value], at: harness.now)
    harness.pump()
    harness.data("t", "6")
    harness.answer(2)
    harness.session.unlisten(first, at: harness.now)
    harness.listen("/t")
    (harness.sent, harness.told) = ([], [])
    harness.data("t", "7")
    return harness
  }

  @Test("a refused write is taken back, and a warning names its place and the reason")
  func refusal() {
    var harness = Self.connected(token: nil)
    harness.data("a", "1")
    let set = harness.write("/a", 2)
    harness.answer(2, "permission_denied", "\"the rule of a says no\"")
    #expect(harness.events.map(\.node) == [1, 2, 1])
    #expect(harness.written[set] == .some(Refusal(status: "permission_denied", reason: "the rule of a says no")))
    #expect(harness.logs.contains { $0.contains("/a") && $0.contains("the rule of a says no") }, "\(harness.logs)")
  }
}
