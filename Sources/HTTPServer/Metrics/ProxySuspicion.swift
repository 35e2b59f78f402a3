import Synchronization

/// Notices a proxy that is not declared as trusted: most requests come from one private address, which limits would take for
/// one client.
///
/// Counts in blocks of requests, and remembers of each block its first client only: an address that most requests come from is
/// the first of most blocks. A request costs one lock.
package final class ProxySuspicion: Sendable {
  /// Requests of a block.
  static let block = 64
  /// Blocks that are looked at; before there are so many nothing is said.
  static let blocksMax = 16

  private struct State {
    var client = ClientAddress.unknown
    var own = 0
    var all = 0
    /// Of each block the client and whether most requests were the client's; the oldest goes.
    var blocks: [ClientAddress?] = []
  }

  private let state = Mutex(State())

  /// Counts a request.
  func note(_ client: ClientAddress) {
    state.withLock { state in
      if state.all == 0 { state.client = client }
      state.all += 1
      if state.client == client { state.own += 1 }
      guard state.all == Self.block else { return }
      state.blocks.append(state.own > Self.block / 2 ? state.client : nil)
      if state.blocks.count > Self.blocksMax { state.blocks.removeFirst() }
      (state.own, state.all) = (0, 0)
    }
  }

  /// The private address that most requests came from lately; nil if there is none, or too few requests.
  package var suspect: ClientAddress? {
    state.withLock { state in
      guard state.blocks.count == Self.blocksMax else { return nil }
      let counts = state.blocks.compactMap(\.self).reduce(into: [:]) { $0[$1, default: 0] += 1 }
      guard let most = counts.max(by: { $0.value < $1.value }), most.value > Self.blocksMax / 2 else { return nil }
      return most.key.isPrivate ? most.key : nil
    }
  }
}
