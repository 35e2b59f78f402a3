import NIOCore

/// Connections that wait for their next request, the youngest last.
struct IdleConnections {
  private struct Connection {
    let channel: any Channel
    let since: NIODeadline
  }

  /// The server closes a connection that stands for 75 seconds; one that is much younger is safe to use.
  static let ageMax = TimeAmount.seconds(20)

  private var connections: [Connection] = []
  private let countMax: Int

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// The connection that was used last, if it is young enough; older ones are closed.
  mutating func take(now: NIODeadline) -> (any Channel)? {
    while let last = connections.popLast() {
      if last.channel.isActive, now - last.since < Self.ageMax { return last.channel }
      last.channel.close(promise: nil)
    }
    return nil
  }

  /// Keeps a connection; false if there are enough already, or it is closed.
  mutating func keep(_ channel: any Channel, now: NIODeadline) -> Bool {
    guard connections.count < countMax, channel.isActive else { return false }
    connections.append(Connection(channel: channel, since: now))
    return true
  }

  /// Hands out all of them.
  mutating func takeAll() -> [any Channel] {
    defer { connections = [] }
    return connections.map(\.channel)
  }
}
