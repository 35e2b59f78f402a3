import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TreeDatabase

@testable import ServerAPI

/// How long a page may be without a poll, on a loop whose time the test moves.
struct LongPollTimeTests {
  @Test("A page whose poll was answered just before its time was over has the whole time to come again")
  func answeredLate() async throws {
    try await APIServer.run { server in
      // Known already, so that the session begins at once.
      _ = try await server.database.openNamespace(named: "game")
      let sessions = server.sockets.sessions
      let gap = sessions.limits.pollGap
      let loop = NIOAsyncTestingEventLoop()
      let page = try await loop.executeInContext {
        let start = try #require(
          try? SocketStart(query: QueryString(), headers: ["host": "localhost"], services: sessions.services))
        let session = SocketSession(id: "page", start: start, client: .unknown, sessions: sessions, eventLoop: loop)
        let page = LongPollConnection(
          session: session, limits: sessions.limits, memory: server.memory, metrics: server.metrics.sockets, onEnd: {})
        _ = page.start()
        // Its answers go nowhere.
        let connection = HTTPConnection(
          configuration: .changed { _ in }, responder: server.router, metrics: server.metrics.http, clock: server.clock,
          memory: server.memory, registry: ConnectionRegistry(connectionsMax: 1))
        page.poll([], ResponseSink(connection: connection, number: 1, eventLoop: loop, client: .unknown, work: nil))
        return NIOLoopBound(page, eventLoop: loop)
      }
      await loop.advanceTime(by: gap - .milliseconds(50))
      try await loop.executeInContext { page.value.send(SocketAnswers.control("o")) }
      await loop.advanceTime(by: gap - .milliseconds(50))
      let isHere = try await loop.executeInContext { page.value.session.isOpen }
      #expect(isHere)
      // It never comes.
      await loop.advanceTime(by: .milliseconds(100))
      let isThere = try await loop.executeInContext { page.value.session.isOpen }
      #expect(!isThere)
      await loop.shutdownGracefully()
    }
  }
}
