package import NIOCore
import NIOHTTP1

/// The beginning of an answer that is to become an event stream, kept back until it is known what the stream begins with.
///
/// A client that sees the head counts on being told of every write that it makes from then on as an event of its own. So the head
/// leaves with the first event, and a stream that cannot begin answers with the status that fits.
package struct StreamOpening {
  package let source: ResponseSource
  let date: DateHeader
  /// Count what is answered in the end.
  let metrics: HTTPMetrics

  /// The head of a stream that begins.
  package func head(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    metrics.count(.ok, of: source.routeClass)
    var buffer = allocator.buffer(capacity: 256)
    HTTPResponse.writeStreamHead(to: &buffer, date: date)
    return buffer
  }

  /// The whole answer instead of a stream; the connection ends behind it.
  package func refusal(_ response: HTTPResponse, _ allocator: ByteBufferAllocator) -> ByteBuffer {
    metrics.count(response.status, of: source.routeClass)
    var buffer = allocator.buffer(capacity: 512)
    let framing = ResponseFraming(isHead: false, isHTTP10: false, keepsAlive: false)
    response.write(to: &buffer, framing: framing, date: date)
    return buffer
  }
}
