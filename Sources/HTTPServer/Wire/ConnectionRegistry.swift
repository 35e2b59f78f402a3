import NIOCore
import Synchronization

/// The open connections: how many there are of each network, and what a stopping server waits for.
final class ConnectionRegistry: Sendable {
  private struct Entry {
    let channel: any Channel
    /// Whose it is; nil while only a proxy is known.
    var network: ClientAddress?
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var networks: NetworkCounts
    var isStopping = false
    var waiter: EventLoopPromise<Void>?
  }

  private let connectionsMax: Int
  private let state: Mutex<State>

  /// - `perNetworkMax`: connections that one network may have; nil for all.
  init(connectionsMax: Int, perNetworkMax: Int? = nil) {
    self.connectionsMax = connectionsMax
    state = Mutex(State(networks: NetworkCounts(perNetworkMax: perNetworkMax ?? connectionsMax)))
  }

  /// Adds a connection; false if there are too many already or the server stops.
  ///
  /// - `client`: who it is with; nil where only a proxy knows.
  func add(_ channel: any Channel, of client: ClientAddress?) -> Bool {
    let network = client?.clientNetwork
    let isAdded = state.withLock { state in
      guard !state.isStopping, state.entries.count < connectionsMax else { return false }
      if let network, !state.networks.take(network) { return false }
      state.entries[ObjectIdentifier(channel)] = Entry(channel: channel, network: network)
      return true
    }
    guard isAdded else { return false }
    channel.closeFuture.whenComplete { _ in self.remove(channel) }
    return true
  }

  /// Counts a proxy's connection for the client that it serves from now on; false if that client's network has too many.
  func count(_ channel: any Channel, for client: ClientAddress) -> Bool {
    let network = client.clientNetwork
    return state.withLock { state in
      let key = ObjectIdentifier(channel)
      guard let entry = state.entries[key] else { return false }
      guard entry.network != network else { return true }
      guard state.networks.take(network) else { return false }
      if let before = entry.network { state.networks.giveBack(before) }
      state.entries[key]?.network = network
      return true
    }
  }

  private func remove(_ channel: any Channel) {
    let waiter = state.withLock { state -> EventLoopPromise<Void>? in
      guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(channel)) else { return nil }
      if let network = entry.network { state.networks.giveBack(network) }
      guard state.entries.isEmpty else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.succeed()
  }

  /// Lets every connection finish what it is answering; those that have not after `timeout` are closed.
  func stop(on eventLoop: any EventLoop, timeout: TimeAmount) async throws {
    let promise = eventLoop.makePromise(of: Void.self)
    let open = state.withLock { state -> [any Channel] in
      state.isStopping = true
      if !state.entries.isEmpty { state.waiter = promise }
      return state.entries.values.map(\.channel)
    }
    if open.isEmpty { promise.succeed() }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    let late = eventLoop.scheduleTask(in: timeout) {
      for channel in self.state.withLock({ $0.entries.values.map(\.channel) }) { channel.close(promise: nil) }
    }
    try await promise.futureResult.get()
    late.cancel()
  }
}

/// How much of something each client network has (``ClientAddress/clientNetwork``). A value: the lock is its owner's.
package struct NetworkCounts: Sendable {
  private let perNetworkMax: Int
  private var counts: [ClientAddress: Int] = [:]

  package init(perNetworkMax: Int) {
    self.perNetworkMax = perNetworkMax
  }

  /// Counts one more; false if the network has as many as it may.
  package mutating func take(_ network: ClientAddress) -> Bool {
    let count = counts[network] ?? 0
    guard count < perNetworkMax else { return false }
    counts[network] = count + 1
    return true
  }

  package mutating func giveBack(_ network: ClientAddress, count: Int = 1) {
    guard let left = counts[network].map({ $0 - count }) else { return }
    counts[network] = left > 0 ? left : nil
  }
}
