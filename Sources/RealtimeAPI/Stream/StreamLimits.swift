package import NIOCore

/// How event streams are kept, and how many there may be.
package struct StreamLimits: Sendable {
  /// Streams open at once; one more is refused with 503. A connection has one at most.
  package var streamsMax: Int
  /// How often a stream says that it is alive (spec: rtdb-protocol §2, about 30 s). Also how soon the end of a credential is
  /// noticed.
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
