import ClientRuntime
import TestSupport
import Testing

@testable import ClientApple

/// What every transport's sockets do, whatever they stand on.
@Suite(.timeLimit(.minutes(5))) struct SocketConformanceTests {
  /// A socket, and what it tells, as texts: `opened`, `text …`, `closed`, `closed: code`.
  private static func open(
    _ transport: any SocketTransport, _ server: ServiceAddress, _ target: String = "/socket?v=5", timeout: Int64 = 120_000
  ) -> (socket: any SocketConnection, events: AsyncStream<String>) {
    let (events, continuation) = AsyncStream<String>.makeStream()
    let socket = transport.open(server, target: target, timeout: timeout) { event in
      switch event {
      case .opened: continuation.yield("opened")
      case .text(let text): continuation.yield("text \(String(decoding: text, as: UTF8.self).prefix(100))")
      case .closed(let error):
        continuation.yield(error.map { "closed: \($0.code)" } ?? "closed")
        continuation.finish()
      }
    }
    return (socket, events)
  }

  private static func all(_ events: AsyncStream<String>) async -> [String] { await events.reduce(into: []) { $0.append($1) } }

  @Test("texts go both ways in their order, and this side's end is in order", arguments: CheckedTransport.withSockets)
  func texts(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let (socket, events) = Self.open(kind.make(), server.address())
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == "opened")
      for number in 0..<100 { socket.send(Array("é\(number)".utf8)) }
      for number in 0..<100 { #expect(await iterator.next() == "text é\(number)") }
      socket.close()
      #expect(await iterator.next() == "closed")
      #expect(await iterator.next() == nil)
      socket.send([65])
      #expect(server.targets == ["/socket?v=5"])
    }
  }

  @Test("a text of a megabyte comes whole", arguments: CheckedTransport.withSockets)
  func large(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let (events, continuation) = AsyncStream<Int>.makeStream()
      let socket = kind.make().open(server.address(), target: "/socket", timeout: 120_000) { event in
        switch event {
        case .opened: continuation.yield(0)
        case .text(let text): continuation.yield(text.count)
        case .closed: continuation.finish()
        }
      }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == 0)
      socket.send([UInt8](repeating: 66, count: 1 << 20))
      #expect(await iterator.next() == 1 << 20)
      socket.close()
    }
  }

  @Test("what nobody deals with is not followed by ever more, until it is dealt with", arguments: CheckedTransport.withSockets)
  func slowReader(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let came = Locked(0)
      let (texts, continuation) = AsyncStream<Int>.makeStream()
      let (size, count, unreadMax) = (1 << 16, 40, 1 << 18)
      let transport = kind.make(unreadMax: unreadMax)
      let socket = transport.open(server.address(), target: "/socket", timeout: 120_000) { event in
        switch event {
        case .opened: continuation.yield(0)
        case .text(let text):
          came.withLock { $0 += text.count }
          continuation.yield(text.count)
        case .closed: continuation.finish()
        }
      }
      var iterator = texts.makeAsyncIterator()
      #expect(await iterator.next() == 0)
      for _ in 0..<count { socket.send([UInt8](repeating: 66, count: size)) }
      var unread = 0
      while unread <= unreadMax { unread += await iterator.next() ?? size }
      // Meanwhile another socket goes on.
      let (other, events) = Self.open(kind.make(), server.address())
      var answers = events.makeAsyncIterator()
      #expect(await answers.next() == "opened")
      for number in 0..<100 {
        other.send(Array("\(number)".utf8))
        #expect(await answers.next() == "text \(number)")
      }
      other.close()
      // What one look at the network brought together is told.
      #expect(came.copy <= unreadMax + 8 * size)
      var taken = unread
      socket.took(unread)
      while taken < count * size, let next = await iterator.next() {
        socket.took(next)
        taken += next
      }
      #expect(came.copy == count * size)
      socket.close()
    }
  }

  @Test("the server's end is in order, a broken connection is not", arguments: CheckedTransport.withSockets)
  func ends(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      for (word, expected) in [("bye", "closed"), ("drop", "closed: disconnected")] {
        let (socket, events) = Self.open(kind.make(), server.address())
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == "opened")
        socket.send(Array(word.utf8))
        #expect(await iterator.next() == expected, "\(word)")
        #expect(await iterator.next() == nil)
      }
    }
  }

  @Test("a socket that cannot be opened ends once, with its reason", arguments: CheckedTransport.withSockets)
  func refused(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let nobody = ServiceAddress(host: "127.0.0.1", port: 1, isSecure: false)
      // Only what never answers ends by its time, on a slow machine too.
      let cases: [(ServiceAddress, String, timeout: Int64, String)] = [
        (server.address(), "/nothing", 120_000, "closed: refused(status: 404)"),
        (server.address(), "/silent", 500, "closed: timedOut"), (nobody, "/socket", 120_000, "closed: unreachable"),
      ]
      for (place, target, timeout, expected) in cases {
        let (socket, events) = Self.open(kind.make(), place, target, timeout: timeout)
        socket.send([65])
        #expect(await Self.all(events) == [expected], "\(place)\(target)")
      }
    }
  }

  @Test("whatever this system's own sockets can do, they end once", arguments: CheckedTransport.allCases)
  func once(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let (socket, events) = Self.open(kind.make(), server.address())
      var all: [String] = []
      for await event in events {
        all.append(event)
        if event == "opened" { socket.close() }
      }
      #expect(all.count { $0.hasPrefix("closed") } == 1)
      #expect(all.last?.hasPrefix("closed") == true)
    }
  }

  @Test("certificates are read out of their text, and nothing out of another")
  func certificates() {
    #expect(PEM.certificates(in: Array((TestCertificates.authority + "\n" + TestCertificates.local).utf8)).count == 2)
    #expect(PEM.certificates(in: Array(TestCertificates.localKey.utf8)).isEmpty)
    #expect(PEM.certificates(in: [0xFF, 0, 1]).isEmpty)
    #expect(PEM.certificates(in: Array("-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----".utf8)).isEmpty)
  }
}
