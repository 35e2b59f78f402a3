internal import Crypto
internal import NIOCore
internal import TextFormats

/// What one node of a server says to another of the connection that it hands on: whose it is. Sealed with a key that only nodes have,
/// for a client's limits are those of its network.
///
/// One line before all other bytes, those of TLS among them, which no request can begin with:
/// `HOP1 ADDRESS MILLISECONDS HMAC-SHA256` and CR LF.
package struct ConnectionSeal: Sendable {
  /// The longest line.
  static let bytesMax = 160
  /// How far the clocks of two nodes may be apart, in milliseconds.
  private static let drift: Int64 = 300_000
  static let mark = Array("HOP1 ".utf8)

  private let key: SymmetricKey

  /// - Parameter secret: the same on all nodes.
  package init(secret: [UInt8]) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Array("doubloon hop".utf8), outputByteCount: 32)
  }

  /// The line for a client's connection.
  ///
  /// - `address`: without a port.
  /// - `now`: milliseconds since 1970.
  package func line(for address: String, at now: Int64) -> String {
    let text = "HOP1 \(address) \(now) "
    return text + Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)) + "\r\n"
  }

  /// Whose connection it is; nil for a line that no node has written, or long ago.
  func client(in line: String, at now: Int64) -> ClientAddress? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, words[0] == "HOP1", let time = Int64(words[2]), abs(now - time) <= Self.drift,
      let code = Hex.decode(words[3])
    else { return nil }
    let text = "HOP1 \(words[1]) \(words[2]) "
    guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(text.utf8), using: key) else { return nil }
    return ClientAddress(parsing: words[1])
  }
}

/// Reads the line of a connection that another node hands on, and leaves the pipeline; a client's own connection has none.
final class ForwardedReader: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let seal: ConnectionSeal
  private let now: () -> Int64
  /// Takes over whose connection it is; false if there are too many of its network.
  private let take: (ClientAddress) -> Bool
  private var held = ByteBuffer()

  init(_ seal: ConnectionSeal, now: @escaping () -> Int64, take: @escaping (ClientAddress) -> Bool) {
    self.seal = seal
    self.now = now
    self.take = take
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    held.writeBuffer(&part)
    let view = held.readableBytesView
    guard view.starts(with: ConnectionSeal.mark.prefix(view.count)) else { return leave(context) }
    guard let end = view.firstIndex(of: 10) else {
      if view.count > ConnectionSeal.bytesMax { context.close(promise: nil) }
      return
    }
    let line = String(decoding: view[..<end].dropLast(), as: UTF8.self)
    guard let client = seal.client(in: line, at: now()), take(client) else { return context.close(promise: nil) }
    held.moveReaderIndex(to: end + 1)
    leave(context)
  }

  private func leave(_ context: ChannelHandlerContext) {
    let rest = held
    held = ByteBuffer()
    if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}
