import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Damaged and random bytes against everything that reads bytes from outside.
///
/// A second for each in an ordinary run; `DOUBLOON_FUZZ_SECONDS=600` for a long one, `DOUBLOON_FUZZ_SEED` for another
/// beginning. What fails says its seed, and that seed alone fails again.
struct FuzzTests {
  static let seconds = number("DOUBLOON_FUZZ_SECONDS") ?? 1
  static let firstSeed = UInt64(number("DOUBLOON_FUZZ_SEED") ?? 1)

  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  /// Runs `body` with one seed after the other until the time is over.
  private static func run(_ body: (inout RandomTree) throws -> Void) rethrows {
    let end = ContinuousClock.now + .seconds(seconds)
    var seed = firstSeed
    while ContinuousClock.now < end {
      for _ in 0..<50 {
        var source = RandomTree(seed: seed)
        try body(&source)
        seed += 1
      }
    }
  }

  /// Changes, inserts and removes some bytes.
  private static func damage(_ bytes: [UInt8], _ source: inout RandomTree) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<source.pick([0, 1, 1, 2, 4, 8]) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &source.random)
      switch source.pick([0, 1, 2, 3]) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &source.random)
      case 1: bytes.insert(source.pick([0, 0x7F, 0x80, 0xFF, 0x81, 0x88, 0xFE] + Array("{}[]\",:\\u0e.-1%&=".utf8)), at: at)
      case 2: bytes.remove(at: at)
      default: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &source.random)
      }
    }
    return bytes
  }

  private static func outcome(_ bytes: [UInt8], pieces: Int) -> (events: [FragmentAssembler.Event], error: WebSocketError?) {
    let collector = ClientFrameTests.Collector()
    do {
      try ClientFrameTests.read(bytes, max: 4096, pieces: pieces, into: collector)
    } catch {
      return (collector.events, error as? WebSocketError)
    }
    return (collector.events, nil)
  }

  @Test("Frames: whatever the bytes and the pieces they come in, the same is read, and never more than was sent")
  func frames() {
    Self.run { source in
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...6, using: &source.random) {
        let payload = (0..<source.pick([0, 1, 5, 125, 126, 300, 4096, 5000])).map { _ in
          UInt8.random(in: 0...255, using: &source.random)
        }
        bytes += ClientFrameTests.frame(source.pick([0x81, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, 0x82]), payload)
      }
      bytes = Self.damage(bytes, &source)
      let whole = Self.outcome(bytes, pieces: .max)
      let pieces = Self.outcome(bytes, pieces: source.pick([1, 2, 3, 7, 100]))
      #expect(whole.events == pieces.events && whole.error == pieces.error)
      let size = whole.events.reduce(0) { sum, event in if case .text(let text) = event { sum + text.count } else { sum } }
      #expect(size <= bytes.count)
    }
  }

  @Test("Pieces: an assembler gives back at most what it was given, and goes on after every message")
  func pieces() {
    Self.run { source in
      var assembler = MessageAssembler(bytesMax: 1000)
      var given = 0
      var returned = 0
      for _ in 0..<20 {
        let frame = source.pick([
          "0", "1", "2", "3", "10", "9999", "10000", "{}", "{\"a\":1}", "", String(repeating: "x", count: 400),
        ])
        given += frame.utf8.count
        guard let step = try? assembler.take(Array(frame.utf8)) else { break }
        if case .message(let message) = step { returned += message.count }
      }
      #expect(returned <= given)
    }
  }

  @Test("Query strings: what is accepted is text, and means the same when it is written again")
  func queries() throws {
    try Self.run { source in
      let pieces = (0..<Int.random(in: 0...5, using: &source.random)).map { _ in
        source.pick(["a", "orderBy", "%22a%22", "%e9", "%C3%A9", "+", "ns", "1"]) + source.pick(["=", "", "=="])
          + source.pick(["%22$key%22", "%", "%4", "%zz", "é", "%00", "x+y", ""])
      }
      let bytes = Self.damage(Array(pieces.joined(separator: "&").utf8), &source)
      guard let query = QueryString(parsing: bytes) else { return }
      let again = query.parameters.map { Self.escaped($0.name) + "=" + Self.escaped($0.value) }.joined(separator: "&")
      let parsed = try #require(QueryString(parsing: Array(again.utf8)), "\(again)")
      #expect(Self.shown(parsed) == Self.shown(query), "\(again)")
    }
  }

  private static func shown(_ query: QueryString) -> [String] { query.parameters.map { "\($0.name)=\($0.value)" } }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test("JSON: damaged text is refused or means the same when it is printed; repaired surrogates included")
  func json() throws {
    try Self.run { source in
      var writer = JSONWriter()
      writer.write(source.json(depthMax: 4))
      var bytes = writer.bytes
      if source.chance(3) { bytes = Array(#"{"a":"\ud83d\ude00\udc00\ud83d","\u0000":[1e5,-0]}"#.utf8) }
      bytes = Self.damage(bytes, &source)
      let isLenient = source.chance(2)
      guard let json = try? JSONParser.parse(bytes, replacesLoneSurrogates: isLenient) else { return }
      var once = JSONWriter()
      once.write(json)
      var twice = JSONWriter()
      twice.write(try JSONParser.parse(once.bytes))
      #expect(once.bytes == twice.bytes)
    }
  }

  @Test("Sessions: whatever clients say, the server lives, and every request that is one is answered")
  func sessions() async throws {
    try await APIServer.run { server in
      let end = ContinuousClock.now + .seconds(Self.seconds)
      var source = RandomTree(seed: Self.firstSeed)
      let actions = ["p", "m", "q", "n", "g", "o", "om", "oc", "auth", "gauth", "unauth", "s", "l", "u", "zz"]
      while ContinuousClock.now < end {
        let (client, _) = try await SocketClient.connect(to: server.port)
        var bytes: [UInt8] = []
        for number in 0..<20 {
          var writer = JSONWriter()
          writer.write([
            "t": "d",
            "d": [
              "r": .int(Int64(number)), "a": .string(source.pick(actions)),
              "b": [
                "p": .string(source.pick(["/", "a", "/a/b", "a/.priority", "//", "\u{0}", "a.b"])),
                "d": source.json(depthMax: 3),
                source.pick(["h", "x"]): source.chance(2) ? "" : source.json(depthMax: 1),
                source.pick(["q", "x"]): ["l": source.json(depthMax: 0), "vf": "l", "i": source.chance(2) ? ".key" : "a"],
                "t": source.json(depthMax: 0), "cred": source.json(depthMax: 0),
              ],
            ],
          ])
          bytes += ClientFrameTests.frame(0x81, source.chance(40) ? Self.damage(writer.bytes, &source) : writer.bytes)
        }
        bytes += ClientFrameTests.text(#"{"t":"d","d":{"r":77,"a":"s","b":{}}}"#)
        let isDamaged = source.chance(20)
        client.sendLoosely(isDamaged ? Self.damage(bytes, &source) : bytes)
        client.sendLoosely(ClientFrameTests.frame(0x88, []))
        // A damaged length makes the server wait for a frame that never ends, as it does for any slow client.
        if isDamaged { client.finishSending() }
        while let message = try await client.next() { _ = try JSONParser.parse(message) }
        try await client.close()
      }
      #expect(try await server.send("GET", "/healthz").status == 200)
      #expect(try await becomes { server.metrics.sockets.open == 0 })
    }
  }
}
