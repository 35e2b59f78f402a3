import NIOCore
package import NIOSSL
import NIOTLS
import Synchronization

/// What the server proves itself with: certificates and their keys, which may be replaced while it runs.
///
/// A connection keeps what it was made with; the next one gets what is there by then. Of several certificates a client gets
/// the one that names the host it asks for (SNI), else the first. TLS 1.2 and 1.3 are offered, with HTTP/1.1 inside.
package final class TLSIdentity: Sendable {
  /// One certificate with the chain behind it, and its key.
  package struct Pair: Sendable {
    /// The server's own first.
    package let chain: [NIOSSLCertificate]
    /// The key of the first.
    package let key: NIOSSLPrivateKey
    /// The hosts that the first one names, in lower case; `*.example.com` stands for one more label.
    package let hosts: [String]

    package init(chain: [NIOSSLCertificate], key: NIOSSLPrivateKey, hosts: [String]) {
      self.chain = chain
      self.key = key
      self.hosts = hosts
    }

    /// Whether the certificate is for a host.
    func names(_ host: String) -> Bool {
      let rest = host.firstIndex(of: ".").map { "*" + host[$0...] }
      return hosts.contains { $0 == host || $0 == rest }
    }
  }

  private let present: Mutex<NIOSSLContext>

  /// - Throws: what the TLS library says against the pairs: usually that a key is not the certificate's.
  package init(_ pairs: [Pair]) throws {
    present = Mutex(try Self.makeContext(pairs))
  }

  /// Takes other pairs for the connections to come; if they are no good, the present ones stay.
  package func replace(with pairs: [Pair]) throws {
    let context = try Self.makeContext(pairs)
    present.withLock { $0 = context }
  }

  /// What the next connection is made with.
  package var context: NIOSSLContext { present.withLock { $0 } }

  private static func makeContext(_ pairs: [Pair]) throws -> NIOSSLContext {
    precondition(!pairs.isEmpty, "TLS needs a certificate.")
    // Each for itself: one that does not fit its key is found now, not by the client that asks for its host.
    for pair in pairs.dropFirst() { _ = try NIOSSLContext(configuration: configuration(pair)) }
    var configuration = configuration(pairs[0])
    if pairs.count > 1 {
      configuration.sslContextCallback = { values, promise in
        var override = NIOSSLContextConfigurationOverride.noChanges
        if let host = values.serverHostname?.lowercased(), let pair = pairs.first(where: { $0.names(host) }) {
          override.certificateChain = pair.chain.map { .certificate($0) }
          override.privateKey = .privateKey(pair.key)
        }
        promise.succeed(override)
      }
    }
    return try NIOSSLContext(configuration: configuration)
  }

  private static func configuration(_ pair: Pair) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: pair.chain.map { .certificate($0) }, privateKey: .privateKey(pair.key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    return configuration
  }
}

/// Closes a connection that does not become a TLS connection in time; then it has done its work and goes.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let timeout: TimeAmount
  private var timer: Scheduled<Void>?

  init(_ timeout: TimeAmount) {
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: timeout) { bound.value.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.handshakeCompleted) = event as? TLSUserEvent {
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }
}
