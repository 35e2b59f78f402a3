package import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
  import Glibc
#endif

/// Bytes that many connections of one event loop are sent: rendered once, and kept once.
package final class SharedBytes {
  package let buffer: ByteBuffer
  /// Whether they count for one of those who have not read them.
  fileprivate var isCounted = false

  package init(_ buffer: ByteBuffer) {
    self.buffer = buffer
  }
}

/// What a connection is sent that others are sent too: gathered for a turn of the loop, then given to the system by one call.
///
/// Where a commit goes to thousands of connections, the way through a channel's pipeline costs more than the call at its end. So what was
/// gathered goes straight to the socket if nothing of the channel waits before it and no TLS is between; what the socket does not
/// take at once goes through the pipeline, which keeps it, and finds out what is wrong with a socket. Everything else that the
/// connection writes is announced by ``yield()``, so the order stays.
///
/// Used on the connection's event loop only, from `handlerAdded` to `handlerRemoved`.
package final class SharedOutput {
  /// More is not gathered: the pipeline bounds and counts what waits.
  private static let gatheredBytesMax = 16 << 10

  private let context: ChannelHandlerContext
  private let channel: any Channel
  /// The channel's socket, open as long as the channel is active: NIO closes the one and ends the other without a call between them
  /// (`BaseSocketChannel.close0`). Nil where bytes must not pass the pipeline by.
  private let socket: NIOBSDSocket.Handle?
  private var gathered: [SharedBytes] = []
  private var gatheredBytes = 0
  /// Bytes in the channel that count for another connection.
  private var sharedBytes = 0
  /// Whether something may wait in the channel.
  private var mayWait = true

  /// - `context`: where gathered bytes enter the pipeline, below what encodes other messages.
  package init(below context: ChannelHandlerContext) {
    self.context = context
    channel = context.channel
    let pipeline = context.pipeline.syncOperations
    #if canImport(Glibc)
      let hasTLS = (try? pipeline.handler(type: NIOSSLServerHandler.self)) != nil
      socket = hasTLS ? nil : try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    #else
      socket = nil
    #endif
  }

  /// Bytes that the socket has not taken.
  package var waitingBytes: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

  /// Of ``waitingBytes``, those that count for this connection: what others are sent too counts once.
  package var countedBytes: Int { max(0, waitingBytes - sharedBytes) }

  /// Whether so much waits that no more should be made; true only where the pipeline has something.
  package var isCongested: Bool { mayWait && !channel.isWritable }

  /// Adds bytes, which leave with the next ``flush()``.
  package func append(_ bytes: SharedBytes) {
    gathered.append(bytes)
    gatheredBytes += bytes.buffer.readableBytes
    if gatheredBytes > Self.gatheredBytesMax { yield() }
  }

  /// Passes on to the pipeline what was gathered: something else is about to be written behind it.
  package func yield() {
    mayWait = true
    pass(from: 0)
  }

  /// Sends what was gathered, and whatever waits in the channel.
  ///
  /// - Returns: whether the socket has taken all of it.
  package func flush() -> Bool {
    if mayWait, waitingBytes == 0 { noteEmpty() }
    if !mayWait, !gathered.isEmpty {
      let sent = sendGathered()
      if sent == gatheredBytes {
        forgetGathered()
        return true
      }
      mayWait = true
      pass(from: sent)
    } else {
      yield()
    }
    context.flush()
    guard waitingBytes == 0 else { return false }
    noteEmpty()
    return true
  }

  /// Calls `done` once everything that was written until now has left; never if the connection ends before.
  package func whenSent(_ done: @escaping @Sendable () -> Void) {
    yield()
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenSuccess(done)
    context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
  }

  /// The client has read what waited for it, or nearly.
  package func noteDrained() { sharedBytes = 0 }

  private func noteEmpty() {
    mayWait = false
    sharedBytes = 0
  }

  /// Writes what was gathered into the pipeline, without its first bytes.
  private func pass(from start: Int) {
    guard !gathered.isEmpty else { return }
    let passed = gathered
    forgetGathered()
    var skipped = start
    for bytes in passed {
      var buffer = bytes.buffer
      let gone = min(skipped, buffer.readableBytes)
      skipped -= gone
      buffer.moveReaderIndex(forwardBy: gone)
      guard buffer.readableBytes > 0 else { continue }
      if bytes.isCounted { sharedBytes += buffer.readableBytes } else { bytes.isCounted = true }
      context.write(NIOAny(buffer), promise: nil)
    }
  }

  private func forgetGathered() {
    gathered.removeAll(keepingCapacity: gathered.capacity <= 8)
    gatheredBytes = 0
  }

  /// - Returns: the bytes that the socket took; 0 also if it is broken: then the pipeline meets the same error, and ends the connection.
  private func sendGathered() -> Int {
    guard let socket, channel.isActive else { return 0 }
    if gathered.count == 1 { return gathered[0].buffer.withUnsafeReadableBytes { Self.send($0, over: socket) } }
    return withUnsafeTemporaryAllocation(byteCount: gatheredBytes, alignment: 1) { space in
      var end = 0
      for bytes in gathered {
        bytes.buffer.withUnsafeReadableBytes { UnsafeMutableRawBufferPointer(rebasing: space[end...]).copyMemory(from: $0) }
        end += bytes.buffer.readableBytes
      }
      return Self.send(UnsafeRawBufferPointer(rebasing: space[..<end]), over: socket)
    }
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, over socket: NIOBSDSocket.Handle) -> Int {
    #if canImport(Glibc)
      // NIO's sockets never block; a signal for a closed one would end the process.
      return max(0, Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    #else
      return 0
    #endif
  }
}
