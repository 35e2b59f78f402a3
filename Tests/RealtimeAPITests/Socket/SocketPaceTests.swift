import NIOCore
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// Writes over sockets have a pace: over it the server stops reading, and refuses nothing.
struct SocketPaceTests {
  private static func limits(_ writes: RateLimit?, ofNetwork: RateLimit? = nil) -> RequestLimits {
    var limits = RequestLimits()
    limits.socketWrites = writes
    limits.socketWritesOfNetwork = ofNetwork
    return limits
  }

  private static func puts(_ numbers: ClosedRange<Int>) -> [UInt8] {
    numbers.flatMap { ClientFrameTests.text(#"{"t":"d","d":{"r":\#($0),"a":"p","b":{"p":"/n","d":\#($0)}}}"#) }
  }

  /// Moves the clock on until `count` answers have come, and checks that all are `ok`, in order.
  private static func expect(_ numbers: ClosedRange<Int>, from client: SocketClient) async throws {
    for number in numbers { #expect(try await client.answer() == #"{"r":\#(number),"b":{"s":"ok","d":""}}"#) }
  }

  @Test("Beyond its burst a client is not read from until it may go on; every put is acknowledged, in order")
  func pause() async throws {
    try await APIServer.run(paces: Self.limits(RateLimit(100, per: 1000, burst: 3))) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      client.sendLoosely(Self.puts(1...40))
      try await Self.expect(1...3, from: client)
      // The clock stands still: it is asked again and again, and never is there enough.
      #expect(try await becomes { server.metrics.total("doubloon_socket_pauses_total") >= 5 })
      #expect(try server.revision() == 3)
      // Others go on.
      #expect(try await server.send("PUT", "/other.json", "1").status == 200)
      for first in stride(from: 4, through: 40, by: 3) {
        server.clock.advance(by: 30)
        try await Self.expect(first...min(first + 2, 40), from: client)
      }
      #expect(try server.revision() == 41)
      try await client.close()
    }
  }

  @Test("A large write counts as several, and one that is larger than the burst takes all of it")
  func size() async throws {
    try await APIServer.run(paces: Self.limits(RateLimit(100, per: 1000, burst: 4))) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let text = String(repeating: "x", count: 70_000)
      try await client.request(#"{"r":1,"a":"p","b":{"p":"/big","d":"\#(text)"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      client.sendLoosely(Self.puts(2...2))
      #expect(try await becomes { server.metrics.total("doubloon_socket_pauses_total") >= 2 })
      #expect(try server.revision() == 1)
      server.clock.advance(by: 10)
      try await Self.expect(2...2, from: client)
      try await client.close()
    }
  }

  @Test("Reads and listens cost nothing, but wait behind a write that waits; an administrator does not wait")
  func others() async throws {
    try await APIServer.run(paces: Self.limits(RateLimit(100, per: 1000, burst: 1))) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      client.sendLoosely(Self.puts(1...2) + ClientFrameTests.text(#"{"t":"d","d":{"r":3,"a":"g","b":{"p":"/n"}}}"#))
      try await Self.expect(1...1, from: client)
      #expect(try await becomes { server.metrics.total("doubloon_socket_pauses_total") >= 2 })
      server.clock.advance(by: 10)
      try await Self.expect(2...2, from: client)
      #expect(try await client.answer() == #"{"r":3,"b":{"s":"ok","d":2}}"#)
      let (admin, _) = try await SocketClient.connect(to: server.port)
      try await admin.request(#"{"r":0,"a":"gauth","b":{"cred":"owner"}}"#)
      #expect(try await admin.answer()?.contains(#""s":"ok""#) == true)
      admin.sendLoosely(Self.puts(1...20))
      try await Self.expect(1...20, from: admin)
      for client in [client, admin] { try await client.close() }
    }
  }

  @Test("The sessions of one player share a bucket, and those of all players of a network another")
  func buckets() async throws {
    let pace = SocketPace(
      limits: Self.limits(RateLimit(1, per: 1000, burst: 2), ofNetwork: RateLimit(1, per: 1000, burst: 3)),
      clock: AdjustableClock(frozenAt: APIServer.start))
    func caller(_ uid: String) -> Caller { Caller(user: AuthVariable(uid: uid, claims: .object([]))) }
    let (home, other) = (try #require(ClientAddress(parsing: "10.0.0.1")), try #require(ClientAddress(parsing: "10.0.0.2")))
    #expect(pace.wait(caller("ann"), from: home, bytes: 10) == nil && pace.wait(caller("ann"), from: other, bytes: 10) == nil)
    #expect(pace.wait(caller("ann"), from: other, bytes: 10) == 1000)
    #expect(pace.wait(caller("bob"), from: home, bytes: 16_384) == nil)
    #expect(pace.wait(caller("cid"), from: home, bytes: 10) == 1000, "the network has none left")
    #expect(pace.wait(caller("cid"), from: other, bytes: 16_384) == nil, "nothing was taken from who had to wait")
    #expect(pace.wait(.anonymous, from: other, bytes: 10) == 1000)
  }

  @Test("Long polling has the same pace: polls stay open while their messages wait")
  func longPolling() async throws {
    try await APIServer.run(paces: Self.limits(RateLimit(100, per: 1000, burst: 1))) { server in
      let page = try await LongPollTests.Page.open(server)
      func put(_ number: Int) -> String { #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/n","d":\#(number)}}}"# }
      let first = try await page.get(LongPollTests.Page.query([put(1), put(2)]))
      #expect(first.contains(#""r":1"#) && !first.contains(#""r":2"#))
      #expect(try await becomes { server.metrics.total("doubloon_socket_pauses_total") >= 2 })
      #expect(try server.revision() == 1)
      async let second = page.get(LongPollTests.Page.query([put(3)], from: 2))
      server.clock.advance(by: 10)
      #expect(try await becomes { try server.revision() == 2 })
      server.clock.advance(by: 10)
      #expect(try await becomes { try server.revision() == 3 })
      #expect(try await second.contains(#""s":"ok""#))
    }
  }
}
