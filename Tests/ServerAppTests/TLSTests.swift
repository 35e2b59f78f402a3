import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import HTTPServer
@testable import ServerApp
@testable import ServerConfiguration

@Suite struct TLSTests {
  private static let certificates = [
    "local.pem": TestCertificates.local, "local.key": TestCertificates.localKey, "other.pem": TestCertificates.other,
    "other.key": TestCertificates.otherKey, "ca.pem": TestCertificates.authority,
  ]

  private func deployment(_ tls: String) throws -> ServeTests.Deployment {
    let deployment = try ServeTests.Deployment(more: "\"tls\": \(tls)")
    for (name, text) in Self.certificates { try deployment.write(text, name) }
    return deployment
  }

  private static let local = "{\"certificate\": \"local.pem\", \"key\": \"local.key\"}"
  private static let other = "{\"certificate\": \"other.pem\", \"key\": \"other.key\"}"

  @Test("commands talk to it over TLS, to a server that can prove who it is")
  func client() async throws {
    let deployment = try deployment("[\(Self.local)]")
    try await deployment.serve { port in
      let authority = deployment.folder.file("ca.pem")
      for host in ["localhost", "127.0.0.1"] {
        let client = try AdminClient(server: "https://\(host):\(port)", token: ServeTests.token, authority: authority)
        #expect(try await client.get("/admin/v1/status")["mode"]?.string == "production")
        #expect(try await client.put("/a.json", .string(String(repeating: "x", count: 200_000))).string?.count == 200_000)
        await client.close()
      }
      let run = await CommandRun([
        "status", "--server", "https://localhost:\(port)", "--ca", authority, "--key", deployment.folder.file("ops.token"),
      ])
      #expect(run.code == 0 && run.out.contains("production"), "\(run.err)")
      let distrusting = try AdminClient(server: "https://localhost:\(port)", token: nil)
      await #expect { _ = try await distrusting.get("/healthz") } throws: { ($0 as? AdminClientError)?.code == .untrusted }
      let plain = try AdminClient(server: "http://localhost:\(port)", token: nil)
      await #expect { _ = try await plain.get("/healthz") } throws: { ($0 as? AdminClientError)?.code == .disconnected }
    }
  }

  /// The host names of the certificate that a client is shown.
  private func names(_ port: Int, asking host: String?, trusting authority: String) async throws -> String {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .noHostnameVerification
    configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
    let context = try NIOSSLContext(configuration: configuration)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: host))
        }
      }.connect(host: "127.0.0.1", port: port).get()
    defer { channel.close(promise: nil) }
    // The handshake is over once something could be written.
    try await channel.writeAndFlush(ByteBuffer(string: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).get()
    return try await channel.eventLoop.submit {
      let handler = try channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
      return handler.peerCertificate?._subjectAlternativeNames().filter { $0.nameType == .dnsName }
        .map { $0.contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }.joined(separator: " ") ?? ""
    }.get()
  }

  @Test("of several certificates a client gets the one for the host that it asks for")
  func serverNames() async throws {
    try await deployment("[\(Self.local), \(Self.other)]").serve { port in
      for (host, expected) in [
        (nil, "localhost"), ("localhost", "localhost"), ("nobody.example", "localhost"),
        ("play.example", "play.example *.games.example"), ("PLAY.example", "play.example *.games.example"),
        ("a.games.example", "play.example *.games.example"), ("a.b.games.example", "localhost"),
      ] {
        let shown = try await names(port, asking: host, trusting: TestCertificates.authority)
        #expect(shown == expected, "\(host ?? "-")")
      }
    }
  }

  @Test("a key of another certificate, and files that hold none, are found before the start")
  func faults() throws {
    let rows = [
      ("{\"certificate\": \"local.pem\", \"key\": \"other.key\"}", "is not the key of the certificate in"),
      ("{\"certificate\": \"local.key\", \"key\": \"local.key\"}", "holds no certificate in PEM form"),
      ("{\"certificate\": \"local.pem\", \"key\": \"local.pem\"}", "holds no private key in PEM form"),
      ("{\"certificate\": \"none.pem\", \"key\": \"local.key\"}", "none.pem cannot be read"),
      ("{\"certificate\": \"local.pem\"}", "\"tls[0].key\" is missing"),
    ]
    for (tls, sentence) in rows {
      let deployment = try deployment("[\(tls)]")
      #expect { _ = try deployment.configuration } throws: {
        "\($0)".contains(sentence) && "\($0)".contains("doubloon.jsonc:1:")
      }
    }
  }

  @Test("renewed files are in use for the next connection; what does not fit together is not")
  func renewal() async throws {
    let folder = TemporaryFolder()
    func write(_ certificate: String, _ key: String) throws {
      try FileBytes.write(Array(certificate.utf8), to: folder.file("c.pem"))
      try FileBytes.write(Array(key.utf8), to: folder.file("k.pem"))
    }
    try write(TestCertificates.local, TestCertificates.localKey)
    let files = CertificateFiles(certificate: folder.file("c.pem"), key: folder.file("k.pem"))
    let identity = try TLSIdentity([try files.load()])
    let clock = AdjustableClock(frozenAt: 1_000_000)
    let watch = CertificateReloader(
      files: [files], identity: identity, clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    func look() async throws {
      while clock.sleeperCount == 0 { await Task.yield() }
      clock.advance(by: CertificateReloader.interval)
      while clock.sleeperCount == 0 { await Task.yield() }
    }
    let first = ObjectIdentifier(identity.context)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try? await watch.run() }
      try await look()
      #expect(ObjectIdentifier(identity.context) == first, "nothing changed")
      try write(TestCertificates.renewed, TestCertificates.localKey)
      try await look()
      #expect(ObjectIdentifier(identity.context) == first, "half of the renewal")
      try write(TestCertificates.renewed, TestCertificates.renewedKey)
      try await look()
      #expect(ObjectIdentifier(identity.context) != first, "the whole renewal")
      group.cancelAll()
    }
  }

  @Test("who does not shake hands, and who speaks plain HTTP, is let go in time")
  func handshakes() async throws {
    let deployment = try deployment("[\(Self.local)]")
    var configuration = try deployment.configuration
    configuration.http.handshakeTimeout = .milliseconds(200)
    let application = try Application(configuration: configuration) { _ in }
    let port = try await application.start()
    for text in ["", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\u{16}\u{3}\u{1}"] {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get()
      // It may be let go before that.
      if !text.isEmpty { _ = try? await channel.writeAndFlush(ByteBuffer(string: text)).get() }
      let late = channel.eventLoop.scheduleTask(in: .seconds(200)) { channel.close(promise: nil) }
      let begin = ContinuousClock.now
      try await channel.closeFuture.get()
      late.cancel()
      #expect(ContinuousClock.now - begin < .seconds(150), "\(text)")
    }
    await application.stop()
  }
}
