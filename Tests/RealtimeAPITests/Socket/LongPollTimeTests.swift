import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServerTestSupport
import Testing
import TreeDatabase

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// How long a page may be without a poll, on a loop whose time the test moves.
struct LongPollTimeTests {
  /// A page that has polled once; its answers go nowhere.
  private static func page(
    of server: APIServer, sending segments: [LongPollSegments.Segment] = [], on loop: NIOAsyncTestingEventLoop
  ) async throws -> NIOLoopBound<LongPollConnection> {
    // Known already, so that the session begins at once.
    _ = try await server.database.openNamespace(named: "game")
    let sessions = server.sockets.sessions
    return try await loop.executeInContext {
      let start = try #require(
        try? SocketStart(query: QueryString(), headers: ["host": "localhost"], services: sessions.services))
      let session = SocketSession(id: "page", start: start, client: .unknown, sessions: sessions, eventLoop: loop)
      let page = LongPollConnection(
        session: session, limits: sessions.limits, memory: server.memory, metrics: server.metrics.sockets, onEnd: {})
      _ = page.start()
      let connection = HTTPConnection(
        configuration: .changed { _ in }, responder: server.router, metrics: server.metrics.http, clock: server.clock,
        memory: server.memory, registry: ConnectionRegistry(connectionsMax: 1))
      page.poll(segments, ResponseSink(connection: connection, number: 1, eventLoop: loop, client: .unknown, work: nil))
      return NIOLoopBound(page, eventLoop: loop)
    }
  }

  private static func isOpen(_ page: NIOLoopBound<LongPollConnection>, on loop: NIOAsyncTestingEventLoop) async throws -> Bool {
    try await loop.executeInContext { page.value.session.isOpen }
  }

  @Test("A page whose poll was answered just before its time was over has the whole time to come again")
  func answeredLate() async throws {
    try await APIServer.run { server in
      let loop = NIOAsyncTestingEventLoop()
      let page = try await Self.page(of: server, on: loop)
      let gap = server.sockets.sessions.limits.pollGap
      await loop.advanceTime(by: gap - .milliseconds(50))
      try await loop.executeInContext { page.value.send(SocketAnswers.control("o")) }
      await loop.advanceTime(by: gap - .milliseconds(50))
      #expect(try await Self.isOpen(page, on: loop))
      // It never comes.
      await loop.advanceTime(by: .milliseconds(100))
      #expect(try await !Self.isOpen(page, on: loop))
      await loop.shutdownGracefully()
    }
  }

  @Test("A page that owes a piece of a message for so long has gone, whatever polls it left; one that owes nothing stays")
  func owing() async throws {
    try await APIServer.run { server in
      for (segments, stays) in [
        ([], true), ([LongPollSegments.Segment(number: 0, total: 2, text: "AAAA")], false),
        ([LongPollSegments.Segment(number: 1, total: 1, text: "AAAA")], false),
      ] {
        let loop = NIOAsyncTestingEventLoop()
        let page = try await Self.page(of: server, sending: segments, on: loop)
        let gap = server.sockets.sessions.limits.pollGap
        await loop.advanceTime(by: gap - .milliseconds(50))
        #expect(try await Self.isOpen(page, on: loop))
        await loop.advanceTime(by: .milliseconds(100))
        #expect(try await Self.isOpen(page, on: loop) == stays, "\(segments)")
        await loop.shutdownGracefully()
      }
    }
  }
}
