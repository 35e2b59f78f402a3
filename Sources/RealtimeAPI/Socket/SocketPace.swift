package import HTTPServer
package import StorageCore
import Synchronization

/// How fast clients may write over sockets and long polling: so much each player, and so much each client network.
///
/// Only says how long somebody has to wait. What waits is not refused: stock clients take a refused write back, on the
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

  /// - Parameter limits: the rates of sockets; others are not looked at.
  package init(limits: RequestLimits, clock: any WallClock) {
    self.clock = clock
    state = Mutex(
      State(
        writers: limits.socketWrites.map { TokenBuckets(limit: $0, capacity: Self.playersMax) },
        networks: limits.socketWritesOfNetwork.map { TokenBuckets(limit: $0, capacity: RequestLimiter.householdsMax) }))
  }

  /// Takes what a write costs out of the buckets of who writes.
  ///
  /// - Parameter bytes: of the message.
  /// - Returns: milliseconds to wait before it is asked again, if there is not enough; nil if it may go on.
  func wait(_ caller: Caller, from client: ClientAddress, bytes: Int) -> Int64? {
    guard caller.standing != .administrator else { return nil }
    let network = client.household
    let writer = if case .user(let uid) = caller.actor { Writer.user(uid) } else { Writer.network(network) }
    let cost = WriteCost.tokens(bytes: bytes)
    let now = clock.now()
    return state.withLock { state in
      if let wait = state.writers?.wait(writer, cost, at: now) { return wait }
      guard let wait = state.networks?.wait(network, cost, at: now) else { return nil }
      state.writers?.putBack(writer, cost)
      return wait
    }
  }
}

extension TokenBuckets {
  /// More tokens than a bucket holds are never there: such a write takes a whole bucket.
  private func bounded(_ cost: Int) -> Int { min(cost, limit.burst) }

  fileprivate mutating func wait(_ client: Client, _ cost: Int, at now: Int64) -> Int64? {
    guard case .wait(let milliseconds) = take(client, at: now, cost: bounded(cost)) else { return nil }
    return milliseconds
  }

  fileprivate mutating func putBack(_ client: Client, _ cost: Int) { giveBack(client, cost: bounded(cost)) }
}
