import NIOCore

/// A message for many clients of one event loop: rendered once, and framed once.
final class SharedMessage {
  let bytes: [UInt8]
  /// As it stands on a WebSocket; nil if it is too large for one.
  private(set) lazy var frames: ByteBuffer? = WebSocketFrames.message(bytes)
  /// How many frames that is.
  var frameCount: Int { MessagePieces.frameCount(bytes) }

  /// Whether it counts for one of those who have not read it.
  var isCounted = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }
}
