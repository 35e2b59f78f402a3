package import StorageCore

/// How often one client may ask for what; nil is without limit. Each 16 KB of a body count as one request more.
package struct RequestLimits: Sendable, Hashable {
  /// What a request counts as.
  package enum Kind: Int, CaseIterable, Sendable {
    /// One of the kinds that have a limit each.
    case read, write, connection, admin, account, link, other
  }

  /// Reads of the tree, and the requests of long-polling clients.
  package var reads: RateLimit?
  /// Writes of the tree over REST.
  package var writes: RateLimit?
  /// Writes of one player over sockets and long polling; of those who have not signed in, of their network together. A large
  /// one counts as several (``WriteCost``).
  package var socketWrites: RateLimit?
  /// The same of all players of one network together.
  package var socketWritesOfNetwork: RateLimit?
  /// Sockets, long-polling sessions and event streams that begin.
  package var connections: RateLimit?
  /// The administrators' surface, the settings, and tokens for service accounts: whoever tries keys is slowed down.
  package var admin: RateLimit?
  /// Accounts: sign-up, sign-in, tokens.
  package var accounts: RateLimit?
  /// Links that are made, opened or asked about.
  package var links: RateLimit?
  /// Everything else.
  package var others: RateLimit?

  /// What production allows: more than a player's game needs, less than a script can do.
  package init() {
    reads = RateLimit(500, per: 1000, burst: 2000)
    writes = RateLimit(100, per: 1000, burst: 500)
    socketWrites = RateLimit(100, per: 1000, burst: 500)
    socketWritesOfNetwork = RateLimit(1000, per: 1000, burst: 5000)
    connections = RateLimit(20, per: 1000, burst: 200)
    admin = RateLimit(20, per: 1000, burst: 200)
    accounts = RateLimit(10, per: 1000, burst: 100)
    links = RateLimit(50, per: 1000, burst: 200)
    others = RateLimit(50, per: 1000, burst: 200)
  }

  package subscript(kind: Kind) -> RateLimit? {
    switch kind {
    case .read: reads
    case .write: writes
    case .connection: connections
    case .admin: admin
    case .account: accounts
    case .link: links
    case .other: others
    }
  }
}
