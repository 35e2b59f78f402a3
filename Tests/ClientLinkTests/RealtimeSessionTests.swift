import SyncModel
import TestSupport
import Testing
import TreeModel

@testable import ClientLink

/// The state machine of a connection, with the server's part spoken by the test.
@Suite struct RealtimeSessionTests {
  @Test func nothingToDoIsNoConnection() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.advance(by: 100_000)
    #expect(harness.connects == [])
  }

  @Test func theTokenComesFirstThenListensWritesReadsAndPresence() {
    var harness = SessionHarness()
    harness.setToken("a.b.c")
    _ = harness.session.onDisconnect("/p", .set("/p", 1), at: harness.now)
    _ = harness.session.read(ListenSpec(path: "/g"), at: harness.now)
    _ = harness.write("/w", 1)
    harness.listen("/l")
    #expect(harness.connects == ["/.ws?v=5&ns=game"])
    harness.hello()
    #expect(harness.sent == [#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"a.b.c"}}}"#])
    harness.answer(1)
    #expect(
      harness.sent.dropFirst() == [
        #"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/l","h":""}}}"#, #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/w","d":1}}}"#,
        #"{"t":"d","d":{"r":4,"a":"g","b":{"p":"/g","q":{}}}}"#, #"{"t":"d","d":{"r":5,"a":"o","b":{"p":"/p","d":1}}}"#,
      ])
  }

  @Test func aReconnectNamesTheSessionAndSendsTheHashAndWhatIsOpen() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/a")
    harness.hello(host: "other:1")
    harness.data("a", "{\"foo\":\"bar\"}")
    harness.answer(1)
    let first = harness.write("/x", 1)
    harness.answer(2)
    let second = harness.write("/y", 2)
    #expect(harness.written[first] == .some(nil))
    harness.sent = []
    harness.lose()
    harness.advance(by: 2000)
    #expect(harness.connects.last == "other:1/.ws?v=5&ns=game&ls=s1")
    harness.hello(session: "s2")
    #expect(
      harness.sent == [
        #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/a","h":"XnLeTeWQmzTHImTbSMDLg/qMrKY="}}}"#,
        #"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/y","d":2}}}"#,
      ])
    let count = harness.events.count
    harness.answer(4)
    #expect(harness.events.count == count, "equal data is no event")
    harness.answer(5)
    #expect(harness.written[second] == .some(nil))
  }

  @Test func writesAreAnsweredAfterTheListensBefore() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/a")
    let id = harness.write("/a", 1)
    harness.hello()
    harness.answer(2)
    #expect(harness.written[id] == nil)
    harness.data("a", "1")
    harness.answer(1)
    #expect(harness.written[id] == .some(nil))
    #expect(harness.events == [TreeEvent(.value, node: 1)])
  }

  @Test func waitingTimesGrowAndBeginAgainAfterAGoodConnection() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/a")
    var waits: [Int64] = []
    for _ in 0..<20 {
      harness.lose()
      let wait = (harness.session.deadline ?? 0) - harness.now.uptime
      waits.append(wait)
      harness.advance(by: wait)
    }
    for (index, wait) in waits.enumerated() {
      let longest = min(30_000, 1000 * (0..<index).reduce(1.0) { product, _ in product * 1.3 })
      #expect(Double(wait) >= 0.3 * longest - 1 && Double(wait) <= longest + 1, "wait \(index): \(wait)")
    }
    harness.hello()
    harness.advance(by: 31_000)
    harness.lose()
    #expect(harness.connects.count == 22, "after a good connection the next try does not wait")
  }

  @Test func anIdleConnectionIsClosedAndOpenedOnDemand() {
    var harness = SessionHarness()
    harness.setToken(nil)
    let id = harness.write("/a", 1)
    harness.hello()
    harness.answer(1)
    #expect(harness.written[id] == .some(nil))
    harness.advance(by: 45_000)
    #expect(harness.sent.last == "0")
    harness.advance(by: 15_000)
    #expect(harness.closes == 1)
    harness.advance(by: 60_000)
    #expect(harness.connects.count == 1)
    _ = harness.write("/a", 2)
    #expect(harness.connects.count == 2)
  }

  @Test func aRefusedTokenIsRefreshedAndTriedAgain() {
    var harness = SessionHarness()
    harness.setToken("a.b.c")
    harness.listen("/a")
    harness.hello()
    harness.answer(1, "expired_token", "\"Auth token is expired\"")
    #expect(harness.refreshes == 1 && harness.closes == 1)
    harness.setToken("d.e.f")
    harness.advance(by: 2000)
    harness.hello()
    #expect(harness.sent.last == #"{"t":"d","d":{"r":2,"a":"auth","b":{"cred":"d.e.f"}}}"#)
    harness.answer(2)
    harness.setToken("g.h.i")
    #expect(harness.sent.last?.contains("g.h.i") == true, "a new token goes over the same connection")
    harness.setToken(nil)
    #expect(harness.sent.last == #"{"t":"d","d":{"r":5,"a":"unauth","b":{}}}"#)
  }

  @Test func aTransactionThatIsAlwaysStaleGivesUpAfterTwentyFiveRuns() {
    var harness = SessionHarness()
    harness.setToken(nil)
    _ = harness.session.beginTransaction("/t", showsGuesses: true, at: harness.now)
    harness.pump()
    harness.hello()
    harness.answer(1)
    for number in 2..<40 { harness.answer(number, "datastale", "\"stale\"") }
    #expect(harness.finished == [.failed(.maxRetries, .absent)])
    #expect(harness.sent.count { $0.contains("\"a\":\"p\"") } == 25)
  }

  @Test func aSentTransactionFailsWithTheConnectionAndAWriteDoesNot() {
    var harness = SessionHarness()
    harness.setToken(nil)
    _ = harness.session.beginTransaction("/t", showsGuesses: true, at: harness.now)
    let id = harness.write("/w", 1)
    harness.hello()
    harness.lose()
    #expect(harness.finished.count == 1)
    #expect(harness.written[id] == nil)
  }

  @Test func aReadWithoutAConnectionFailsAfterThreeSeconds() {
    var harness = SessionHarness()
    harness.setToken(nil)
    _ = harness.session.read(ListenSpec(path: "/g"), at: harness.now)
    harness.pump()
    harness.advance(by: 2999)
    #expect(harness.reads.isEmpty)
    harness.advance(by: 1)
    #expect(harness.reads.count == 1)
  }

  @Test func presenceIsShownWhenTheLinkIsLost() {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/on")
    _ = harness.session.onDisconnect("/on/me", .set("/on/me", "gone"), at: harness.now)
    harness.hello()
    harness.data("on", "{\"me\":\"here\"}")
    harness.answer(1)
    harness.answer(2)
    harness.lose()
    #expect(harness.events.last == TreeEvent(.value, node: ["me": "gone"]))
  }

  @Test(arguments: [
    "{", "[]", "{\"t\":\"x\"}", "{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{}}}", "99999",
    "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"a.b\"}}}",
    "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"a/.priority\",\"d\":true}}}",
    "{\"t\":\"d\",\"d\":{\"a\":\"m\",\"b\":{\"p\":\"a\",\"d\":{\".priority/x\":1}}}}",
    "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"a\",\"d\":{\".sv\":\"timestamp\"}}}}",
  ])
  func whatIsNoMessageEndsTheConnection(text: String) {
    var harness = SessionHarness()
    harness.setToken(nil)
    harness.listen("/a")
    harness.receive(text)
    #expect(harness.closes == 1)
    #expect(harness.logs.last?.contains("server of another kind") == true)
  }

  @Test func brokenMessagesNeverTrap() {
    let seeds = [
      #"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1,"y":{"z":[1,2,3]}},"t":1}}}"#,
      #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"x/y":1,"z":null}}}}"#,
      #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#,
      #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"i":".key","l":2,"vf":"r"}]}}}"#,
      #"{"t":"d","d":{"a":"ac","b":{"s":"x","d":"y"}}}"#,
      #"{"t":"c","d":{"t":"h","d":{"ts":1e300,"v":"5","h":"h","s":"s"}}}"#, #"{"t":"c","d":{"t":"r","d":"x:1"}}"#, "3", "0",
    ].map { Array($0.utf8) }
    var random = SplitMix64(seed: 5)
    for round in 0..<300 {
      var harness = SessionHarness()
      harness.setToken(nil)
      harness.listen("/a")
      _ = harness.write("/a/b", 1)
      harness.hello()
      for _ in 0..<10 {
        var text = seeds[Int.random(in: 0..<seeds.count, using: &random)]
        for _ in 0..<Int.random(in: 0...3, using: &random) where !text.isEmpty {
          let at = Int.random(in: 0..<text.count, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: text[at] = UInt8.random(in: 0...255, using: &random)
          case 1: text.remove(at: at)
          default: text.insert(contentsOf: text[..<at].suffix(5), at: at)
          }
        }
        harness.session.socketReceived(text, at: harness.now)
        harness.pump()
      }
      harness.lose()
      #expect(harness.session.deadline != nil, "round \(round): it will try again")
    }
  }
}

/// Long messages in pieces.
@Suite struct MessageFramesTests {
  @Test(arguments: [0, 1, 16_384, 16_385, 40_000, 100_001])
  func piecesComeTogetherAgain(count: Int) throws {
    let text = Array(String(String(repeating: "a😀", count: count / 5 + 1).prefix(count)).utf8)
    let message = Array("{".utf8) + text
    var frames = MessageFrames()
    var result: [UInt8]?
    let pieces = try #require(MessageFrames.frames(of: message))
    for piece in pieces {
      #expect(piece.count <= MessageFrames.pieceBytesMax)
      #expect(String(validating: piece, as: UTF8.self) != nil, "no character is cut")
      result = try frames.receive(piece)
    }
    #expect(result == message)
  }

  @Test func aPieceThatLooksLikeANumberIsAPiece() throws {
    var frames = MessageFrames()
    #expect(try frames.receive(Array("2".utf8)) == nil)
    #expect(try frames.receive(Array("12".utf8)) == nil)
    #expect(try frames.receive(Array("34".utf8)) == Array("1234".utf8))
    #expect(try frames.receive(Array("0".utf8)) == nil)
    #expect(try frames.receive(Array("{}".utf8)) == Array("{}".utf8))
  }
}
