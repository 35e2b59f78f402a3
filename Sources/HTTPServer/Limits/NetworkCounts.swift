/// How much of something each client network has (``ClientAddress/household``). A value: the lock is its owner's.
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
