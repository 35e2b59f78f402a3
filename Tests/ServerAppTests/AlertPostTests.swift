import Crypto
import Logging
import NIOHTTP1
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// How notices get to people: signed, again after a failure, and bounded.
@Suite struct AlertPostTests {
  static let secret = "0123456789abcdef"
  static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func notice(_ number: Int64, _ kind: AlertKind = .deadLetters) -> AlertNotice {
    AlertNotice(kind: kind, state: .firing, summary: "number \(number)", since: number, time: number)
  }

  /// Waits for something that another task does.
  private func eventually(_ holds: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if holds() { return true }
      await Task.yield()
    }
    return holds()
  }

  /// Runs a post beside a test; the clock moves by a second whenever nothing else is to be done.
  private func running(_ post: AlertPost, _ test: () async throws -> Void) async throws {
    let task = Task { try await post.run() }
    do {
      try await test()
    } catch {
      task.cancel()
      throw error
    }
    task.cancel()
    _ = await task.result
  }

  @Test("A webhook gets JSON over TLS, signed so that only who knows the secret could have sent it at that time")
  func signed() async throws {
    let folder = TemporaryFolder()
    try folder.write(TestCertificates.authority, to: "ca.pem")
    try await TinyServer.run(tls: try LocalIssuer.tls(), { _ in TinyServer.Answer(status: 204) }) { server in
      let url = server.address.replacing("http://127.0.0.1", with: "https://localhost") + "/hook?channel=ops"
      let way = AlertWebhook(
        AlertSettings.Webhook(url: url, secret: Self.secret, authority: folder.file("ca.pem")), project: "game")
      try await way.send(notice(7), at: 1_700_000_000_500)
      let request = try #require(server.requests.first)
      #expect(request.method == .POST && request.uri == "/hook?channel=ops")
      #expect(request.json == notice(7).json(project: "game"))
      #expect(request.headers.first(name: "x-doubloon-timestamp") == "1700000000")
      let expected = HMAC<SHA256>.authenticationCode(
        for: Array("1700000000.".utf8) + request.body, using: SymmetricKey(data: Array(Self.secret.utf8)))
      let hex = Array(expected).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
      #expect(request.headers.first(name: "x-doubloon-signature") == "v1=" + hex)
      // A receiver elsewhere is refused: the certificate is not that host's.
      let stranger = AlertWebhook(AlertSettings.Webhook(url: url, secret: Self.secret, authority: nil), project: "game")
      await #expect(throws: (any Error).self) { try await stranger.send(notice(7), at: 0) }
    }
  }

  @Test("What fails is tried again later and later, each notice until it is taken, and then never again")
  func retried() async throws {
    let failures = Mutex(3)
    try await TinyServer.run({ _ in
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      return TinyServer.Answer(status: fails ? 503 : 200)
    }) { server in
      let clock = AdjustableClock(frozenAt: 1_000_000)
      let post = AlertPost(
        AlertWebhook(AlertSettings.Webhook(url: server.address, secret: Self.secret, authority: nil), project: "game"),
        clock: clock, logger: Self.logger)
      post.add(notice(1))
      var times: [Int64] = []
      try await running(post) {
        // 5, 10 and 20 seconds later, as the clock goes.
        for seconds in 0..<60 {
          #expect(await eventually { clock.sleeperCount == 1 })
          while times.count < server.requests.count { times.append(Int64(seconds)) }
          clock.advance(by: 1000)
        }
      }
      #expect(times.count == 4 && server.requests.count == 4, "\(times)")
      #expect(times == [0, 5, 15, 35])
      #expect(post.counts == AlertPost.Counts(sent: 1, failures: 3, dropped: 0) && post.count == 0)
      #expect(Set(server.requests.map { $0.json["id"]?.string }).count == 1)
    }
  }

  @Test("A clock that was set back does not put off what is to be tried again")
  func clockSetBack() async throws {
    let failures = Mutex(1)
    try await TinyServer.run({ _ in
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      return TinyServer.Answer(status: fails ? 503 : 200)
    }) { server in
      let clock = AdjustableClock(frozenAt: 1_000_000_000)
      let post = AlertPost(
        AlertWebhook(AlertSettings.Webhook(url: server.address, secret: Self.secret, authority: nil), project: "game"),
        clock: clock, logger: Self.logger)
      post.add(notice(1))
      try await running(post) {
        #expect(await eventually { post.counts.failures == 1 })
        clock.setBack(by: 900_000_000)
      }
      try await running(post) { #expect(await eventually { post.counts.sent == 1 }) }
    }
  }

  @Test("A receiver that takes the connection and never answers does not hold up a server that stops")
  func stopping() async throws {
    try await TinyServer.run({ _ in TinyServer.Answer(isSilent: true) }) { server in
      let post = AlertPost(
        AlertWebhook(AlertSettings.Webhook(url: server.address, secret: Self.secret, authority: nil), project: "game"),
        clock: AdjustableClock(frozenAt: 0), logger: Self.logger)
      post.add(notice(1))
      var begin = ContinuousClock.now
      try await running(post) {
        #expect(await eventually { server.requests.count == 1 })
        begin = .now
      }
      #expect(ContinuousClock.now - begin < .seconds(8), "the webhook's own timeout is ten seconds")
      #expect(post.counts == AlertPost.Counts() && post.count == 1)
    }
  }

  @Test("What is never taken is given up, and what waits is bounded: the newest stay")
  func bounded() async throws {
    struct Deaf: AlertWay {
      let name = "deaf"
      func send(_ notice: AlertNotice, at now: Int64) async throws { throw AlertError("nobody is there") }
    }
    let clock = AdjustableClock(frozenAt: 0)
    let full = AlertPost(Deaf(), clock: clock, logger: Self.logger)
    for number in 0..<Int64(AlertPost.capacity) + 10 { full.add(notice(number)) }
    #expect(full.count == AlertPost.capacity && full.counts.dropped == 10)
    let post = AlertPost(Deaf(), clock: clock, logger: Self.logger)
    post.add(notice(1))
    try await running(post) {
      for _ in 0..<AlertPost.attemptsMax {
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: 400_000)
      }
      #expect(await eventually { post.count == 0 })
    }
    #expect(post.counts == AlertPost.Counts(sent: 0, failures: AlertPost.attemptsMax, dropped: 1))
  }
}
