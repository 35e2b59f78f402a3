/// What is counted of sockets.
package final class SocketMetrics: Sendable {
  /// Sessions that began, over both transports.
  package let opened = Counter()
  /// Sessions that ended.
  package let ended = Counter()
  package let framesReceived = Counter()
  package let framesSent = Counter()
  /// Requests answered.
  package let requests = Counter()
  /// Times that a client was not read from for a while because it had written too much.
  package let pauses = Counter()
  /// Clients cut off because they did not read.
  package let slowReaders = Counter()

  package var open: Int { opened.current - ended.current }
}
