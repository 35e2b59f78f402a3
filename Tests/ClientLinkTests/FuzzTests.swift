import ClientRuntime
import SyncModel
import TestSupport
import Testing
import TreeModel

@testable import ClientLink

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whatever a server says, a game goes on: random and damaged messages into a session with listeners, writes and transactions.
///
/// A second for each in an ordinary run; `DOUBLOON_FUZZ_SECONDS=600` for a long one, `DOUBLOON_FUZZ_FRAMES=10000000` for one of so
/// many, `DOUBLOON_FUZZ_SEED` for another beginning. What fails says its seed, and that seed alone fails again.
@Suite struct FuzzTests {
  static let seconds = number("DOUBLOON_FUZZ_SECONDS") ?? 1
  static let frames = number("DOUBLOON_FUZZ_FRAMES")
  static let firstSeed = UInt64(number("DOUBLOON_FUZZ_SEED") ?? 1)

  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  /// Runs `body` with one seed after the other until the time is over, or there were enough; says how many there were.
  private static func run(_ what: String, _ body: (inout RandomTree) throws -> Int) rethrows {
    let end = ContinuousClock.now + .seconds(seconds)
    var seed = firstSeed
    var count = 0
    while frames.map({ count < $0 }) ?? (ContinuousClock.now < end) {
      var source = RandomTree(seed: seed)
      count += try body(&source)
      seed += 1
    }
    if seconds > 60 || frames != nil { print("\(what): \(count), to the seed \(seed)") }
  }

  /// Changes, inserts and removes some bytes.
  private static func damage(_ bytes: [UInt8], _ source: inout RandomTree) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<source.pick([1, 1, 2, 4, 8]) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &source.random)
      switch source.pick([0, 1, 2, 3]) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &source.random)
      case 1: bytes.insert(source.pick([0, 0x7F, 0x80, 0xFF] + Array("{}[]\",:\\u0e.-19".utf8)), at: at)
      case 2: bytes.remove(at: at)
      default: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &source.random)
      }
    }
    return bytes
  }

  private static let paths = ["", "a", "a/b", "l", "l/x/y", "w", "t", "/", "//", ".info", "a/.priority", "\u{0}", "a.b", "é/1"]

  /// What a server says, more or less.
  private static func message(_ source: inout RandomTree) -> JSON {
    let body: JSON = [
      "p": .string(source.pick(paths)), "d": source.json(depthMax: 3), "s": source.pick(["ok", "ok", "datastale", "", 7]),
      "t": source.pick([1, 2, 3, -1, .null]), source.pick(["q", "x"]): source.json(depthMax: 2),
    ]
    switch Int.random(in: 0..<12, using: &source.random) {
    case 0...3: return ["t": "d", "d": ["r": .int(Int64(Int.random(in: -1...30, using: &source.random))), "b": body]]
    case 4...7: return ["t": "d", "d": ["a": source.pick(["d", "m", "c", "rm", "sd", "zz", "d", "m"]), "b": body]]
    case 8: return ["t": "d", "d": ["a": "ac", "b": ["s": "expired", "d": "late"]]]
    case 9:
      return [
        "t": "c",
        "d": [
          "t": source.pick(["h", "r", "e", "zz"]),
          "d": ["ts": source.json(depthMax: 0), "h": source.pick(["b:1", "", 7]), "s": "s1", "x": source.json(depthMax: 1)],
        ],
      ]
    case 10: return ["t": "c", "d": ["t": source.pick(["r", "e"]), "d": source.json(depthMax: 0)]]
    default: return source.json(depthMax: 3)
    }
  }

  private static func bytes(_ source: inout RandomTree) -> [UInt8] {
    if source.chance(30) { return Array(source.pick(["0", "2", "3", "9999", "10000", "", "-1", "0x1"]).utf8) }
    var writer = JSONWriter()
    writer.write(message(&source))
    return writer.bytes
  }

  /// A session in the middle of everything.
  private static func begun(_ source: inout RandomTree) -> SessionHarness {
    var harness = SessionHarness()
    harness.setToken(source.chance(2) ? "a.b.c" : nil)
    for path in ["/a", "/l", "/l/x"] as [Path] { harness.listen(path) }
    let last = ListenSpec(path: "/q", query: Query(order: .key, limit: .last(2)))
    _ = harness.session.listen(last, to: [.added, .removed], at: harness.now)
    _ = harness.write("/w", .leaf(.int(1)))
    _ = harness.session.beginTransaction("/t", showsGuesses: true, at: harness.now)
    _ = harness.session.read(ListenSpec(path: "/g"), at: harness.now)
    _ = harness.session.onDisconnect("/p", .set("/p", 1), at: harness.now)
    harness.pump()
    harness.hello()
    return harness
  }

  @Test("Messages: whatever comes, nothing traps, and a server that speaks properly again is understood")
  func messages() throws {
    Self.run("Messages") { source in
      var harness = Self.begun(&source)
      var count = 0
      // Messages come again, each time in another state of the session, and some of them damaged.
      let messages = (0..<64).map { _ in Self.bytes(&source) }
      for _ in 0..<400 {
        // A frame that meets no connection is none.
        if case .closed = harness.session.link.phase { harness.greetAgain() }
        let message = source.pick(messages)
        harness.session.socketReceived(source.chance(8) ? Self.damage(message, &source) : message, at: harness.now)
        harness.pump()
        count += 1
        if source.chance(20) { harness.advance(by: Int64(source.pick([1, 1000, 40_000]))) }
        if source.chance(40) { _ = harness.write("/w", source.node(depthMax: 2)) }
      }
      // An orderly server: the connection stands again, and data arrive.
      harness.setToken(nil)
      harness.greetAgain()
      harness.listen("/again")
      let events = harness.events.count
      harness.data("again", "\"\(source.random.next())\"")
      let (isConnected, heard) = (harness.session.isConnected, harness.events.count - events)
      #expect(isConnected)
      #expect(heard > 0)
      return count
    }
  }

  @Test("Pieces: at most what was sent comes out, and what is put together is what was taken apart")
  func pieces() throws {
    Self.run("Pieces") { source in
      var frames = MessageFrames()
      var (given, returned, count) = (0, 0, 0)
      for _ in 0..<40 {
        let frame = source.pick(["0", "1", "2", "9999", "10000", "{}", "", "é", String(repeating: "x", count: 400)])
        given += frame.utf8.count
        count += 1
        guard let message = try? frames.receive(Array(frame.utf8)) else { continue }
        returned += message.count
      }
      #expect(returned <= given)
      let letter = source.pick(["x", "é", "😀", "e\u{301}"])
      let text = Array(String(repeating: letter, count: source.pick([1, 16_384, 20_000])).utf8)
      var again = MessageFrames()
      let sent = try? MessageFrames.frames(of: text)?.compactMap { try again.receive($0) }
      #expect(sent == [text])
      return count
    }
  }

  @Test("Events: a stream in any pieces holds the same events")
  func events() throws {
    try Self.run("Events") { source in
      let line = ["event: put", "data: 1", "data", "data:  2", ": note", "", "", "id: 7", "data: {\"é\":1}", "event:"]
      let text = (0..<12).map { _ in source.pick(line) + source.pick(["\n", "\r\n", "\r"]) }.joined()
      let bytes = source.chance(2) ? Self.damage(Array(text.utf8), &source) : Array(text.utf8)
      var whole = EventStreamReader()
      var parts = EventStreamReader()
      let expected = try whole.read(bytes)
      let size = source.pick([1, 2, 3, 7])
      let found = try stride(from: 0, to: bytes.count, by: size).flatMap { start in
        try parts.read(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(found == expected)
      return 1
    }
  }
}

extension SessionHarness {
  /// Ends the connection, and has another that is greeted.
  fileprivate mutating func greetAgain() {
    // Without anything to do it would have none.
    if !session.tree.hasListeners { listen("/a") }
    session.setOnline(false, at: now)
    session.setOnline(true, at: now)
    pump()
    hello()
  }
}
