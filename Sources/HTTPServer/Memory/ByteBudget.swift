import Synchronization

/// How many bytes the server holds for clients that have not done their part, all together: input that is not whole or not
/// answered, or output that nobody reads.
///
/// What is held is counted in ``ByteShare``s. When they are more than there may be, some are given up: those of strangers
/// first, then those of users; of those the ones of the client network that holds most; of that network the largest first.
/// So nobody can take the place of others by holding much, and nobody who has signed in waits for those who have not.
/// Administrators are not counted.
///
/// One lock and no allocation for a change; who gives way is looked for only when it is too much, and then an eighth is made
/// free at once, so that an attacker does not have everything looked through for every packet.
package final class ByteBudget: Sendable {
  /// What one share has.
  private struct Holding {
    let network: ClientAddress
    var standing: ClientStanding
    var bytes: Int
    /// Whether it can be given up: what is being worked on cannot.
    var isReleasable: Bool
    let giveUp: @Sendable () -> Void
  }

  private struct State {
    var used = 0
    var holdings: [ObjectIdentifier: Holding] = [:]
  }

  /// Bytes that may be held at once.
  package let bytesMax: Int
  /// Shares that were given up, or refused.
  package let refusals = Counter()
  private let state = Mutex(State())

  init(bytesMax: Int) {
    precondition(bytesMax > 0, "A budget of no bytes takes no request.")
    self.bytesMax = bytesMax
  }

  /// Bytes that are held.
  package var used: Int { state.withLock { $0.used } }

  /// A share that holds nothing yet.
  ///
  /// - Parameter giveUp: called once, on any thread, when what it holds is to be let go for the sake of others. From then on
  ///   it is not counted, and cannot hold anything.
  package func share(of client: ClientAddress, giveUp: @escaping @Sendable () -> Void) -> ByteShare {
    ByteShare(budget: self, network: client.household, giveUp: giveUp)
  }

  /// - Returns: false if the share must be let go: now, or since it was given up.
  package func hold(_ bytes: Int, by share: ByteShare, as standing: ClientStanding, isReleasable: Bool, heldBefore: Bool)
    -> Bool
  {
    let key = ObjectIdentifier(share)
    let (isHeld, losers) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
      // Who has no entry any more though it held something was given up.
      if heldBefore, state.holdings[key] == nil { return (false, []) }
      let before = state.holdings[key]?.bytes ?? 0
      state.holdings[key] = Holding(
        network: share.network, standing: standing, bytes: bytes, isReleasable: true, giveUp: share.giveUp)
      state.used += bytes - before
      var losers: [@Sendable () -> Void] = []
      if state.used > bytesMax, bytes > before { losers = Self.giveUpShares(in: &state, for: key, bytesMax) }
      guard state.holdings[key] != nil else { return (false, losers) }
      state.holdings[key]?.isReleasable = isReleasable
      return (true, losers)
    }
    if !isHeld { refusals.add() }
    for giveUp in losers {
      refusals.add()
      giveUp()
    }
    return isHeld
  }

  package func release(_ share: ObjectIdentifier) {
    state.withLock { state in
      guard let holding = state.holdings.removeValue(forKey: share) else { return }
      state.used -= holding.bytes
    }
  }

  /// Removes holdings until the rest fits.
  ///
  /// - Parameter key: whose growth was too much. Alone it may have what it wants: nobody would be served by refusing it.
  /// - Returns: what to call for those that were removed, but for `key` itself, which is told by the caller.
  private static func giveUpShares(in state: inout State, for key: ObjectIdentifier, _ bytesMax: Int) -> [@Sendable () -> Void]
  {
    guard state.holdings.count > 1 else { return [] }
    var losers: [@Sendable () -> Void] = []
    let target = bytesMax - bytesMax / 8
    for standing in [ClientStanding.stranger, .user] where state.used > bytesMax {
      var networks: [ClientAddress: (bytes: Int, shares: [(key: ObjectIdentifier, bytes: Int)])] = [:]
      for (key, holding) in state.holdings where holding.standing == standing {
        networks[holding.network, default: (0, [])].bytes += holding.bytes
        if holding.isReleasable { networks[holding.network]?.shares.append((key, holding.bytes)) }
      }
      for network in networks.values.sorted(by: { $0.bytes > $1.bytes }) where state.used > bytesMax {
        for share in network.shares.sorted(by: { $0.bytes > $1.bytes }) where state.used > target {
          guard let holding = state.holdings.removeValue(forKey: share.key) else { continue }
          state.used -= holding.bytes
          if share.key != key { losers.append(holding.giveUp) }
        }
      }
    }
    // Everything else is being worked on.
    if state.used > bytesMax, let holding = state.holdings.removeValue(forKey: key) { state.used -= holding.bytes }
    return losers
  }
}
