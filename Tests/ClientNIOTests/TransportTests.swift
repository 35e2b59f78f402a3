import ClientNIO
import ClientRuntime
import NIOHTTP1
import NIOSSL
import ServerTestSupport
import TestSupport
import Testing

/// HTTP over real sockets: answers, kept connections, and everything that goes wrong on the way.
@Suite(.timeLimit(.minutes(5))) struct TransportTests {
  private static func address(_ text: String) throws -> ServiceAddress { try #require(ServiceAddress(text)) }

  private static func code(_ body: () async throws -> Void) async -> TransportError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? TransportError)?.code
    }
  }

  @Test("a request comes as it was sent, and the answer as it was given, whatever its status")
  func exchange() async throws {
    try await TinyServer.run({ request in
      TinyServer.Answer(status: 418, body: request.body + Array(request.uri.utf8), headers: ["X-A": "b"])
    }) { server in
      let transport = NIOTransport()
      let request = HTTPRequest(
        "POST", "/a?b=%20c", at: try Self.address(server.address),
        headers: [("Authorization", "Bearer t"), ("Host", "other.test")],
        body: Array("{}".utf8))
      for _ in 0..<3 {
        let response = try await transport.send(request)
        #expect(response.status == 418)
        #expect(response["x-a"] == "b")
        #expect(String(decoding: response.body, as: UTF8.self) == "{}/a?b=%20c")
      }
      #expect(server.requests.count == 3)
      #expect(server.requests.first?.headers.first(name: "host") == "other.test")
      #expect(server.connectionCount == 1)
    }
  }

  @Test("many at once all get their own answer")
  func parallel() async throws {
    try await TinyServer.run({ TinyServer.Answer(body: Array($0.uri.utf8)) }) { server in
      let transport = NIOTransport()
      let address = try Self.address(server.address)
      let count = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask {
            let response = try await transport.send(HTTPRequest("GET", "/\(number)", at: address))
            return String(decoding: response.body, as: UTF8.self) == "/\(number)"
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(count == 50)
    }
  }

  @Test("no listener, silence, a hang-up, too many bytes, no HTTP, TLS where there is none: each has its code")
  func failures() async throws {
    let transport = NIOTransport()
    try await TinyServer.run({ request in
      switch request.path {
      case "/silent": TinyServer.Answer(isSilent: true)
      case "/gone": TinyServer.Answer(hangsUp: true)
      default: TinyServer.Answer(body: Array(repeating: 65, count: 100_000))
      }
    }) { server in
      let address = try Self.address(server.address)
      let secure = ServiceAddress(host: address.host, port: address.port, isSecure: true)
      let nobody = ServiceAddress(host: "127.0.0.1", port: 1, isSecure: false)
      let cases: [(HTTPRequest, TransportError.Code)] = [
        (HTTPRequest("GET", "/", at: nobody), .unreachable),
        (HTTPRequest("GET", "/", at: try Self.address("http://no-such-host.invalid")), .unreachable),
        (HTTPRequest("GET", "/silent", at: address, timeout: 100), .timedOut),
        (HTTPRequest("POST", "/gone", at: address), .disconnected),
        (HTTPRequest("GET", "/big", at: address, responseBytesMax: 99_999), .tooLarge),
        (HTTPRequest("GET", "/", at: secure, timeout: 2000), .untrusted),
        (HTTPRequest("GET", "no slash", at: address), .badAddress),
        (HTTPRequest("GET", "/", at: address, headers: [("A", "b\r\nC: d")]), .badAddress),
      ]
      for (request, code) in cases {
        #expect(await Self.code { _ = try await transport.send(request) } == code, "\(request.target) \(request.server)")
      }
      // What failed leaves nothing behind that the next request trips over.
      #expect(try await transport.send(HTTPRequest("GET", "/", at: address)).status == 200)
    }
  }

  @Test("an ended task closes its connection, and says that it was ended")
  func cancelled() async throws {
    try await TinyServer.run({ _ in TinyServer.Answer(isSilent: true) }) { server in
      let transport = NIOTransport()
      let address = try Self.address(server.address)
      let task = Task { try await transport.send(HTTPRequest("GET", "/", at: address)) }
      while server.requests.isEmpty { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
  }

  @Test("a server proves who it is by an authority that the app trusts, or gets nothing")
  func tls() async throws {
    let certificate = try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.local.utf8))
    let key = try NIOSSLPrivateKey(bytes: Array(TestCertificates.localKey.utf8), format: .pem)
    let context = try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: certificate.map { .certificate($0) }, privateKey: .privateKey(key)))
    try await TinyServer.run(tls: context, { _ in TinyServer.Answer(body: Array("hello".utf8)) }) { server in
      let address = try Self.address(server.address.replacing("http://127.0.0.1", with: "https://localhost"))
      let trusting = NIOTransport(authorities: [Array(TestCertificates.authority.utf8)])
      #expect(try await trusting.send(HTTPRequest("GET", "/", at: address)).status == 200)
      let strict = NIOTransport()
      #expect(await Self.code { _ = try await strict.send(HTTPRequest("GET", "/secret", at: address)) } == .untrusted)
      #expect(server.requests.map(\.path) == ["/"])
      let unreadable = NIOTransport(authorities: [[1, 2, 3]])
      #expect(await Self.code { _ = try await unreadable.send(HTTPRequest("GET", "/", at: address)) } == .untrusted)
    }
  }

  @Test("events of a stream come as the server's tree changes")
  func events() async throws {
    try await APIServer.run { server in
      let transport = NIOTransport()
      let address = ServiceAddress(host: "127.0.0.1", port: server.port, isSecure: false)
      let request = HTTPRequest("GET", "/a.json", at: address, headers: [("Accept", "text/event-stream")])
      var events = try await transport.events(request).makeAsyncIterator()
      #expect(try await events.next() == StreamEvent(name: "put", data: #"{"path":"/","data":null}"#))
      _ = try await transport.send(HTTPRequest("PUT", "/a/b.json", at: address, body: Array("7".utf8)))
      #expect(try await events.next() == StreamEvent(name: "put", data: #"{"path":"/b","data":7}"#))
      let refused = HTTPRequest("GET", "/a.json", at: address)
      #expect(await Self.code { _ = try await transport.events(refused) } == .badResponse)
    }
  }

  @Test("a socket opens, carries texts both ways, and closes; a server that opens none says so")
  func socket() async throws {
    try await APIServer.run { server in
      let address = ServiceAddress(host: "127.0.0.1", port: server.port, isSecure: false)
      let (events, continuation) = AsyncStream<SocketEvent>.makeStream()
      let socket = NIOTransport().open(address, target: "/.ws?v=5&ns=game", timeout: 5000) { event in
        continuation.yield(event)
        if case .closed = event { continuation.finish() }
      }
      var iterator = events.makeAsyncIterator()
      guard case .opened? = await iterator.next() else {
        Issue.record("the socket did not open")
        return
      }
      guard case .text(let hello)? = await iterator.next() else {
        Issue.record("no hello came")
        return
      }
      #expect(String(decoding: hello, as: UTF8.self).contains(#""t":"h""#))
      socket.send(Array(#"{"t":"d","d":{"r":1,"a":"s","b":{"c":{}}}}"#.utf8))
      guard case .text(let answer)? = await iterator.next() else {
        Issue.record("no answer came")
        return
      }
      #expect(String(decoding: answer, as: UTF8.self).contains(#""r":1"#))
      socket.close()
      guard case .closed(.none)? = await iterator.next() else {
        Issue.record("the socket did not close in order")
        return
      }
      #expect(await iterator.next() == nil)
    }
  }

  @Test("a socket that cannot be opened ends once, with its reason")
  func noSocket() async throws {
    try await TinyServer.run({ TinyServer.Answer(status: $0.path == "/silent" ? 200 : 404, isSilent: $0.path == "/silent") }) {
      server in
      let address = try Self.address(server.address)
      let secure = ServiceAddress(host: address.host, port: address.port, isSecure: true)
      let nobody = ServiceAddress(host: "127.0.0.1", port: 1, isSecure: false)
      let cases: [(ServiceAddress, String, TransportError.Code)] = [
        (address, "/", .refused(status: 404)), (address, "/silent", .timedOut), (nobody, "/", .unreachable),
        (secure, "/", .untrusted),
      ]
      for (place, target, code) in cases {
        let (events, continuation) = AsyncStream<SocketEvent>.makeStream()
        let socket = NIOTransport().open(place, target: target, timeout: 500) { event in
          continuation.yield(event)
          if case .closed = event { continuation.finish() }
        }
        socket.send([1])
        var all: [SocketEvent] = []
        for await event in events { all.append(event) }
        guard all.count == 1, case .closed(let error)? = all.first else {
          Issue.record("\(place)\(target): \(all)")
          return
        }
        #expect(error?.code == code, "\(place)\(target)")
      }
    }
  }
}
