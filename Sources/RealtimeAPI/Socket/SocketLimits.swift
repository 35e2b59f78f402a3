package import NIOCore

/// How much one socket, and all together, may ask of the server.
package struct SocketLimits: Sendable {
  /// Sessions open at once, over both transports; one more is refused before it begins.
  package var sessionsMax: Int
  /// Bytes of one message from a client: more than the 16 MB that a commit may change, for JSON is wordier.
  package var messageBytesMax: Int
  /// Requests that may wait in a session; beyond that nothing more is read from its socket.
  package var requestsMax: Int
  /// Bytes that those may have, about; beyond that nothing more is read either.
  package var requestBytesMax = 1 << 20
  /// Requests of one session that may have begun and not be answered: writes with the writer, listens whose data are being
  /// read, and what was done behind them.
  package var writesMax: Int
  /// Places and queries that a session may listen to.
  package var listensMax: Int
  /// Places and queries that all sessions of one client network may listen to.
  package var listensPerNetworkMax = Int.max
  /// Bytes that may wait for a slow reader; the one who has more waiting when the next message comes is cut off.
  package var outgoingBytesMax: Int
  /// Leaves that a session may have registered for its end.
  package var disconnectLeavesMax: Int
  /// Bytes that may have been sent to register them.
  package var disconnectBytesMax: Int
  /// After how much silence a client is asked whether it is still there.
  package var pingInterval: TimeAmount
  /// After how much silence it is held for dead.
  package var silenceMax: TimeAmount
  /// The speed at which a client that is slow must still read what waits for it.
  package var bytesPerSecondMin: Int
  /// How long a long-polling client may be without a poll.
  package var pollGap: TimeAmount

  package init(
    sessionsMax: Int = 100_000, messageBytesMax: Int = 17 << 20, requestsMax: Int = 1024, writesMax: Int = 256,
    listensMax: Int = 10_000, outgoingBytesMax: Int = 16 << 20, disconnectLeavesMax: Int = 10_000,
    disconnectBytesMax: Int = 1 << 20, pingInterval: TimeAmount = .seconds(30), silenceMax: TimeAmount = .seconds(75),
    bytesPerSecondMin: Int = 16 << 10,
    pollGap: TimeAmount = .seconds(30)
  ) {
    self.sessionsMax = sessionsMax
    self.messageBytesMax = messageBytesMax
    self.requestsMax = requestsMax
    self.writesMax = writesMax
    self.listensMax = listensMax
    self.outgoingBytesMax = outgoingBytesMax
    self.disconnectLeavesMax = disconnectLeavesMax
    self.disconnectBytesMax = disconnectBytesMax
    self.pingInterval = pingInterval
    self.silenceMax = silenceMax
    self.bytesPerSecondMin = bytesPerSecondMin
    self.pollGap = pollGap
  }
}
