import APISupport
import HTTPServer
package import NIOCore
import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// The open event streams of the server: how many there are, and what they share.
final class EventStreams: StreamCounting {
  let hub: ListenerHub
  let limits: StreamLimits
  let metrics: ServerMetrics
  let output: ByteBudget
  let clock: any WallClock
  let authenticator: any Authenticating
  let users: ConnectedUsers
  private let memories = Mutex<[ObjectIdentifier: EventTextMemory]>([:])

  init(services: RealtimeServices) {
    hub = services.listeners
    limits = services.streamLimits
    metrics = services.metrics
    output = services.memory.output
    clock = services.database.clock
    authenticator = services.authenticator
    users = services.connectedUsers
  }

  /// Counts one more; false if there are too many.
  func open() -> Bool {
    metrics.streams.add(1)
    if metrics.streams.current <= limits.streamsMax { return true }
    metrics.streams.add(-1)
    return false
  }

  func close() { metrics.streams.add(-1) }

  func memory(of eventLoop: any EventLoop) -> EventTextMemory {
    memories.withLock { memories in
      if let memory = memories[ObjectIdentifier(eventLoop)] { return memory }
      let memory = EventTextMemory()
      memories[ObjectIdentifier(eventLoop)] = memory
      return memory
    }
  }
}

/// How event streams are kept, and how many there may be.
package struct StreamLimits: Sendable {
  /// Streams open at once; one more is refused with 503. A connection has one at most.
  package var streamsMax: Int
  /// How often a stream says that it is alive (Firebase's REST reference, streaming). Also how soon the end of a credential
  /// is noticed.
  package var keepAliveInterval: TimeAmount
  /// How long a client may read nothing, or leave packets unacknowledged, before its stream is closed.
  package var stallTimeout: TimeAmount

  package init(
    streamsMax: Int = 50_000, keepAliveInterval: TimeAmount = .seconds(30), stallTimeout: TimeAmount = .seconds(60)
  ) {
    self.streamsMax = streamsMax
    self.keepAliveInterval = keepAliveInterval
    self.stallTimeout = stallTimeout
  }
}

/// Server-sent events as bytes (Firebase's REST reference, streaming).
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
  private var last: (message: ListenMessage, text: SharedBytes)?

  func text(of message: ListenMessage, allocator: ByteBufferAllocator) -> SharedBytes {
    if let last, last.message === message { return last.text }
    let text = SharedBytes(EventText.change(message, allocator: allocator))
    last = (message, text)
    return text
  }

  /// The loop has handed on what there was: a large text is not kept for a stream that may never come.
  func didFlush() {
    if let last, last.text.buffer.readableBytes > Self.keptBytesMax { self.last = nil }
  }
}

/// An event loop as the executor of the sinks whose connections it serves.
package struct EventLoopExecutor: DeliveryExecutor {
  private let eventLoop: any EventLoop

  package init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  package var identity: ObjectIdentifier { ObjectIdentifier(eventLoop) }

  package func execute(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }
}
