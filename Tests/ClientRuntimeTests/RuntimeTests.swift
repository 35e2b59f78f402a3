import ClientRuntime
import Dispatch
import Foundation
import TestSupport
import Testing

/// What the library stands on: waiting times, callbacks, addresses, sessions.
@Suite struct RuntimeTests {
  /// Time that a test moves.
  private final class HandClock: ClientClock {
    private struct Timer: ClientTimer {
      let clock: HandClock
      let id: Int
      func cancel() { clock.state.withLock { $0.work[id] = nil } }
    }
    let state = Locked<(now: Int64, work: [Int: (Int64, @Sendable () -> Void)], next: Int)>((0, [:], 0))
    var milliseconds: Int64 { state.withLock { $0.now } }
    var uptime: Int64 { milliseconds }

    func schedule(after delay: Int64, _ work: @escaping @Sendable () -> Void) -> any ClientTimer {
      state.withLock { state in
        state.next += 1
        state.work[state.next] = (state.now + delay, work)
        return Timer(clock: self, id: state.next)
      }
    }

    func move(_ milliseconds: Int64) {
      let due = state.withLock { state in
        state.now += milliseconds
        let due = state.work.filter { $0.value.0 <= state.now }
        for id in due.keys { state.work[id] = nil }
        return due.values.map(\.1)
      }
      for work in due { work() }
    }
  }

  @Test("refreshes wait 1, 2, 4, 8, 16, 16 minutes, and from the start after success")
  func refreshing() {
    var generator = SplitMix64(seed: 1)
    var backoff = Backoff.refreshing
    #expect((0..<6).map { _ in backoff.delay(using: &generator) / 1000 } == [60, 120, 240, 480, 960, 960])
    backoff.reset()
    #expect(backoff.delay(using: &generator) == 60_000)
  }

  @Test("an event of a stream that never ends is given up, and takes no memory until then")
  func endlessEvent() throws {
    var reader = EventStreamReader()
    let line = Array("data: \(String(repeating: "x", count: 65_530))\n".utf8)
    #expect(throws: TransportError.self) { for _ in 0...16 { _ = try reader.read(line) } }
  }

  @Test("reconnects wait between 0.3 and 1 of a time that grows by 1.3 up to 30 seconds")
  func reconnecting() {
    var generator = SplitMix64(seed: 2)
    var backoff = Backoff.reconnecting
    var full = 1000.0
    for _ in 0..<40 {
      let delay = Double(backoff.delay(using: &generator))
      #expect(delay >= 0.3 * full - 1 && delay <= full)
      full = min(full * 1.3, 30_000)
    }
    backoff.reset()
    backoff.saturate()
    #expect(backoff.delay(using: &generator) >= 8999)
  }

  @Test("callbacks run in order; a queue that nobody serves is named once, after five seconds")
  func callbacks() async {
    let clock = HandClock()
    let lines = Locked<[String]>([])
    let log = ClientLog { _, line in lines.withLock { $0.append(line) } }
    let queue = DispatchQueue(label: "stuck")
    queue.suspend()
    let callbacks = CallbackQueue(queue: queue, clock: clock, log: log)
    let ran = Locked<[Int]>([])
    for number in 0..<3 { callbacks.call { ran.withLock { $0.append(number) } } }
    clock.move(4999)
    #expect(lines.copy.isEmpty)
    clock.move(1)
    #expect(lines.copy.count == 1)
    #expect(lines.copy.first?.contains("\"stuck\"") == true)
    clock.move(60_000)
    queue.resume()
    await withCheckedContinuation { continuation in callbacks.call { continuation.resume() } }
    #expect(ran.copy == [0, 1, 2])
    #expect(lines.copy.count == 1)
  }

  @Test(
    "an address is read",
    arguments: [
      ("https://play.example.com", "https://play.example.com"),
      ("HTTP://Play.Example.com:80/path?q", "http://play.example.com"),
      ("wss://a.test:444", "https://a.test:444"), ("ws://[::1]:9000", "http://[::1]:9000"),
      ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
      ("play.example.com", nil), ("ftp://a.test", nil), ("https://", nil), ("https://a.test:0x1", nil),
      ("https://u@a.test", nil),
      ("https://a.test:65536", nil), ("", nil),
    ] as [(String, String?)])
  func addresses(text: String, expected: String?) {
    #expect(ServiceAddress(text)?.description == expected)
  }

  @Test("a session file holds what was written last, is its owner's, and can be removed")
  func session() throws {
    let folder = TemporaryFolder()
    let file = SessionFile(folder: folder.file("app"), name: "session.json")
    #expect(file.read() == nil)
    try file.write([1, 2])
    try file.write([3])
    #expect(file.read() == [3])
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)
    try file.write(nil)
    try file.write(nil)
    #expect(file.read() == nil)
    #expect(throws: (any Error).self) { try SessionFile(folder: "/proc/nothing", name: "a").write([1]) }
  }

  @Test("sleeping ends with its time, or with its task")
  func sleeping() async throws {
    let clock = HandClock()
    let task = Task { try await clock.sleep(milliseconds: 100) }
    while clock.state.withLock({ $0.work.isEmpty }) { await Task.yield() }
    clock.move(100)
    try await task.value
    let ended = Task { try await clock.sleep(milliseconds: 100) }
    while clock.state.withLock({ $0.work.isEmpty }) { await Task.yield() }
    ended.cancel()
    await #expect(throws: CancellationError.self) { try await ended.value }
    #expect(clock.state.withLock { $0.work.isEmpty })
  }
}
