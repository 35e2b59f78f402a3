import NIOCore
import TreeDatabase
import TreeModel

/// Server-sent events as bytes (spec: rtdb-protocol §2, streaming).
enum EventText {
  /// `put` or `patch`: `{"path":"/a","data":…}` on one line; JSON has no raw line breaks.
  static func change(_ message: ListenMessage, allocator: ByteBufferAllocator) -> ByteBuffer {
    var path = JSONWriter(capacity: message.path.utf8.count + 8)
    path.string("/" + message.path)
    var buffer = allocator.buffer(capacity: message.body.count + path.bytes.count + 48)
    switch message.kind {
    case .overwrite: buffer.writeStaticString("event: put\ndata: {\"path\":")
    case .merge: buffer.writeStaticString("event: patch\ndata: {\"path\":")
    }
    buffer.writeBytes(path.bytes)
    buffer.writeStaticString(",\"data\":")
    buffer.writeBytes(message.body)
    buffer.writeStaticString("}\n\n")
    return buffer
  }

  static let keepAlive = ByteBuffer(staticString: "event: keep-alive\ndata: null\n\n")
  /// `null`, for clients feed anything to a JSON parser.
  static let cancel = ByteBuffer(staticString: "event: cancel\ndata: null\n\n")
  /// Without quotes: clients compare the raw line, and come again with a new token.
  static let credentialExpired = ByteBuffer(staticString: "event: auth_revoked\ndata: credential is no longer valid\n\n")
}

/// The text of the last message on one event loop: a message comes to all streams of a loop one after the other.
///
/// `@unchecked Sendable`: used on one event loop only, the one that it was made for.
final class EventTextMemory: @unchecked Sendable {
  private static let keptBytesMax = 64 << 10
  private var last: (message: ListenMessage, text: ByteBuffer)?

  /// - Returns: the text, and whether another stream has had it before.
  func text(of message: ListenMessage, allocator: ByteBufferAllocator) -> (text: ByteBuffer, isShared: Bool) {
    if let last, last.message === message { return (last.text, true) }
    let text = EventText.change(message, allocator: allocator)
    last = (message, text)
    return (text, false)
  }

  /// The loop has handed on what there was: a large text is not kept for a stream that may never come.
  func didFlush() {
    if let last, last.text.readableBytes > Self.keptBytesMax { self.last = nil }
  }
}
