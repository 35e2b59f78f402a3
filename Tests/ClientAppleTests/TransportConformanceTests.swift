import ClientApple
import ClientNIO
import ClientRuntime
import NIOSSL
import TestSupport
import Testing

/// A transport of the library's, as the checks of both are given it.
enum CheckedTransport: String, Sendable, CaseIterable {
  case nio = "ClientNIO"
  case system = "ClientApple"

  /// - `authority`: a certificate that is trusted instead of the system's.
  func make(authority: String? = nil, unreadMax: Int = SocketEvent.unreadMax) -> any HTTPTransport & SocketTransport {
    let authorities = authority.map { [Array($0.utf8)] } ?? []
    return switch self {
    case .nio: NIOTransport(authorities: authorities, unreadMax: unreadMax)
    case .system: URLSessionTransport(authorities: authorities, unreadMax: unreadMax)
    }
  }

  /// Those whose sockets work on this system: Foundation's on Linux need a libcurl that was built with them.
  static var withSockets: [CheckedTransport] {
    #if canImport(Darwin)
      allCases
    #else
      [.nio]
    #endif
  }

  /// Those that can trust a server's own authority on this system.
  static var withAuthorities: [CheckedTransport] { withSockets }
}

/// What every transport of the library does, whatever it stands on: the same checks for each.
@Suite(.timeLimit(.minutes(5))) struct TransportConformanceTests {
  private static func code(_ body: () async throws -> Void) async -> TransportError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? TransportError)?.code
    }
  }

  @Test("a request comes as it was sent, the answer as it was given, whatever its status", arguments: CheckedTransport.allCases)
  func exchange(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        let body = method == "GET" ? nil : Array("{}".utf8)
        let request = HTTPRequest(
          method, "/echo?b=%20c&d=%22e%22", at: server.address(), headers: [("X-Sent", "a \u{7E}")], body: body)
        let response = try await transport.send(request)
        #expect(response.status == 418)
        #expect(response["x-a"] == "b")
        #expect(String(decoding: response.body, as: UTF8.self) == "\(body == nil ? "" : "{}")\(method) \(request.target) a ~")
      }
    }
  }

  @Test("many at once all get their own answer", arguments: CheckedTransport.allCases)
  func parallel(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      let count = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<30 {
          group.addTask {
            let response = try await transport.send(HTTPRequest("GET", "/echo?\(number)", at: server.address()))
            return String(decoding: response.body, as: UTF8.self) == "GET /echo?\(number) "
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(count == 30)
    }
  }

  @Test("nothing is followed, and nothing is remembered", arguments: CheckedTransport.allCases)
  func redirect(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      for _ in 0..<2 {
        let response = try await transport.send(HTTPRequest("GET", "/moved", at: server.address()))
        #expect(response.status == 302)
        #expect(response["location"] == "/echo")
      }
      #expect(server.targets == ["/moved", "/moved"])
    }
  }

  @Test("whatever goes wrong has its code, and leaves nothing behind", arguments: CheckedTransport.allCases)
  func failures(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      let address = server.address()
      let nobody = ServiceAddress(host: "127.0.0.1", port: 1, isSecure: false)
      let unknown = ServiceAddress(host: "no-such-host.invalid", port: 80, isSecure: false)
      let cases: [(HTTPRequest, TransportError.Code)] = [
        (HTTPRequest("GET", "/echo", at: nobody), .unreachable), (HTTPRequest("GET", "/echo", at: unknown), .unreachable),
        (HTTPRequest("GET", "/silent", at: address, timeout: 100), .timedOut),
        (HTTPRequest("POST", "/gone", at: address, body: []), .disconnected),
        (HTTPRequest("GET", "/big", at: address, responseBytesMax: 99_999), .tooLarge),
        (HTTPRequest("GET", "/echo", at: server.address(isSecure: true), timeout: 60_000), .untrusted),
        (HTTPRequest("GET", "no slash", at: address), .badAddress),
        (HTTPRequest("GET", "/echo", at: address, headers: [("A", "b\r\nC: d")]), .badAddress),
      ]
      for (request, code) in cases {
        #expect(await Self.code { _ = try await transport.send(request) } == code, "\(request.target) \(request.server)")
      }
      let whole = try await transport.send(HTTPRequest("GET", "/big", at: address))
      #expect(whole.body.count == 100_000)
    }
  }

  @Test("an ended task gets no answer, and says that it was ended", arguments: CheckedTransport.allCases)
  func cancelled(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      let address = server.address()
      let task = Task { try await transport.send(HTTPRequest("GET", "/silent", at: address)) }
      while server.targets.isEmpty { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
      let before = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await transport.send(HTTPRequest("GET", "/echo", at: address))
      }
      await #expect(throws: CancellationError.self) { _ = try await before.value }
    }
  }

  @Test("events come one by one, a broken stream ends, and what is none says so", arguments: CheckedTransport.allCases)
  func events(_ kind: CheckedTransport) async throws {
    try await PlainServer.run { server in
      let transport = kind.make()
      let address = server.address()
      var events = try await transport.events(HTTPRequest("GET", "/events", at: address)).makeAsyncIterator()
      #expect(try await events.next() == StreamEvent(name: "put", data: "1"))
      #expect(try await events.next() == StreamEvent(name: "message", data: "2\n3"))
      server.hangUp()
      let last = try? await events.next()
      #expect(last == nil)
      #expect(await Self.code { _ = try await transport.events(HTTPRequest("GET", "/words", at: address)) } == .badResponse)
      let refused = HTTPRequest("GET", "/nothing", at: address)
      #expect(await Self.code { _ = try await transport.events(refused) } == .refused(status: 404))
    }
  }

  @Test("a server proves who it is by an authority that the app trusts", arguments: CheckedTransport.withAuthorities)
  func ownAuthority(_ kind: CheckedTransport) async throws {
    try await PlainServer.run(tls: try Self.tls()) { server in
      let address = server.address(host: "localhost", isSecure: true)
      let trusting = kind.make(authority: TestCertificates.authority)
      let response = try await trusting.send(HTTPRequest("GET", "/echo", at: address))
      #expect(response.status == 418)
      let unreadable = kind.make(authority: "nothing")
      #expect(await Self.code { _ = try await unreadable.send(HTTPRequest("GET", "/echo", at: address)) } == .untrusted)
    }
  }

  @Test("a server that nobody vouches for gets nothing", arguments: CheckedTransport.allCases)
  func untrusted(_ kind: CheckedTransport) async throws {
    try await PlainServer.run(tls: try Self.tls()) { server in
      let address = server.address(host: "localhost", isSecure: true)
      let transport = kind.make()
      #expect(await Self.code { _ = try await transport.send(HTTPRequest("GET", "/secret", at: address)) } == .untrusted)
      #expect(server.targets.isEmpty)
    }
  }

  private static func tls() throws -> NIOSSLContext {
    let certificate = try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.local.utf8))
    let key = try NIOSSLPrivateKey(bytes: Array(TestCertificates.localKey.utf8), format: .pem)
    return try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: certificate.map { .certificate($0) }, privateKey: .privateKey(key)))
  }
}
