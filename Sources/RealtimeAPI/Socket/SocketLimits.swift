package import HTTPServer
package import NIOCore
package import StorageCore
import Synchronization

/// How much one socket, and all together, may ask of the server.
package struct SocketLimits: Sendable {
  /// Sessions open at once, over both transports; one more is refused before it begins.
  package var sessionsMax = 100_000
  /// Bytes of one message from a client: more than the 16 MB that a commit may change, for JSON is wordier.
  package var messageBytesMax = 17 << 20
  /// Requests that may wait in a session; beyond that nothing more is read from its socket.
  package var requestsMax = 1024
  /// Bytes that those may have, about; beyond that nothing more is read either.
  package var requestBytesMax = 1 << 20
  /// Requests of one session that may have begun and not be answered: writes with the writer, listens whose data are being
  /// read, and what was done behind them.
  package var writesMax = 256
  /// Paths and queries that a session may listen to.
  package var listensMax = 10_000
  /// Bytes of a request to listen: what it says is kept while it lasts.
  package var listenBytesMax = 64 << 10
  /// Paths and queries that all sessions of one client network may listen to.
  package var listensPerNetworkMax = Int.max
  /// Bytes that may wait for a slow reader; the one who has more waiting when the next message comes is cut off.
  package var outgoingBytesMax = 16 << 20
  /// Leaves that a session may have registered for its end.
  package var disconnectLeavesMax = 10_000
  /// Bytes that may have been sent to register them.
  package var disconnectBytesMax = 1 << 20
  /// After how much silence a client is asked whether it is still there.
  package var pingInterval: TimeAmount = .seconds(30)
  /// After how much silence it is held for dead.
  package var silenceMax: TimeAmount = .seconds(75)
  /// The speed at which a client that is slow must still read what waits for it.
  package var bytesPerSecondMin = 16 << 10
  /// How long a long-polling client may be without a poll.
  package var pollGap: TimeAmount = .seconds(30)

  package init() {}
}

/// How fast clients may write over sockets and long polling: so much each player, and so much each client network.
///
/// Only says how long a client has to wait. What waits is not refused: stock clients take a refused write back, on the
/// player's screen too. The session stops reading instead, and the client's own socket fills.
package final class SocketPace: Sendable {
  /// Players that are known at once.
  private static let playersMax = 65_536

  /// Who writes; without a user, the network.
  private enum Writer: Hashable, Sendable {
    case user(String)
    case network(ClientAddress)
  }

  private struct State {
    var writers: TokenBuckets<Writer>?
    var networks: TokenBuckets<ClientAddress>?
  }

  private let state: Mutex<State>
  private let clock: any WallClock

  /// - `limits`: the rates of sockets; others are not looked at.
  package init(limits: RequestLimits, clock: any WallClock) {
    self.clock = clock
    state = Mutex(
      State(
        writers: limits.socketWrites.map { TokenBuckets(limit: $0, capacity: Self.playersMax) },
        networks: limits.socketWritesOfNetwork.map { TokenBuckets(limit: $0, capacity: RequestLimiter.networksMax) }))
  }

  /// Takes what a write costs out of the buckets of who writes.
  ///
  /// - `bytes`: of the message.
  /// - Returns: milliseconds to wait before it is asked again, if there is not enough; nil if it may go on.
  func wait(_ caller: Caller, from client: ClientAddress, bytes: Int) -> Int64? {
    guard caller.standing != .administrator else { return nil }
    let network = client.clientNetwork
    let writer = if case .user(let uid) = caller.actor { Writer.user(uid) } else { Writer.network(network) }
    let cost = WriteCost.tokens(bytes: bytes)
    let now = clock.now()
    return state.withLock { state in
      if let wait = state.writers?.wait(writer, cost: cost, at: now) { return wait }
      guard let wait = state.networks?.wait(network, cost: cost, at: now) else { return nil }
      state.writers?.putBack(writer, cost: cost)
      return wait
    }
  }
}

extension TokenBuckets {
  /// More tokens than a bucket holds are never there: such a write takes a whole bucket.
  private func bounded(_ cost: Int) -> Int { min(cost, limit.burst) }

  fileprivate mutating func wait(_ client: Client, cost: Int, at now: Int64) -> Int64? {
    guard case .wait(let milliseconds) = take(client, at: now, cost: bounded(cost)) else { return nil }
    return milliseconds
  }

  fileprivate mutating func putBack(_ client: Client, cost: Int) { giveBack(client, cost: bounded(cost)) }
}
