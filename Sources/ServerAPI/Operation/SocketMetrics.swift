/// What is counted of sockets.
final class SocketMetrics: Sendable {
  /// Sessions that began, over both transports.
  let opened = Counter()
  /// Sessions that ended.
  let ended = Counter()
  let framesReceived = Counter()
  let framesSent = Counter()
  /// Requests answered.
  let requests = Counter()
  /// Times that a client was not read from for a while because it had written too much.
  let pauses = Counter()
  /// Clients cut off because they did not read.
  let slowReaders = Counter()

  var open: Int { opened.current - ended.current }
}
