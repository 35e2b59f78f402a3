import APISupport
import Accounts
import Credentials
import IdentityAPI
import Logging
import ServerConfiguration
import StorageCore
import Synchronization
import TreeModel

/// Verifies what other issuers say about players: providers by their keys, service accounts by theirs.
///
/// Where the accounts (a player signs in with a provider's token, or a custom one), the tree (a token of a configured issuer
/// opens it) and the network (the issuers' keys) meet.
final class FederatedIdentityVerifier: IdentityProving, ForeignAuthenticating {
  /// How often it looks whether keys are due, in milliseconds.
  static let interval: Int64 = 60_000
  /// How many issuers may be added while the server runs.
  private static let addedMax = 1000

  private let clock: any WallClock
  private let serviceAccounts: ServiceAccountStore?
  private let all: [IssuerKeys]
  /// For signing in, by the provider's name.
  private let providers: [String: IssuerKeys]
  /// For the tree, by the issuer that tokens name.
  private let users: [String: (keys: IssuerKeys, users: ForeignUsers)]
  /// The keys of issuers that administrators set up over the API, by issuer: whatever application a token is for, an issuer's
  /// keys are the same.
  private let added = Mutex<[String: IssuerKeys]>([:])
  private let (arrivals, arrival) = AsyncStream.makeStream(of: IssuerKeys.self)
  private let logger: Logger

  /// - `serviceAccounts`: who may sign custom tokens; nil where nobody signs in.
  /// - Precondition: no two providers have one name, and no two one issuer at the tree; the configuration sees to that.
  init(
    _ issuers: [TrustedIssuer], serviceAccounts: ServiceAccountStore?, clock: any WallClock, logger: Logger
  ) {
    self.clock = clock
    self.logger = logger
    self.serviceAccounts = serviceAccounts
    var all: [IssuerKeys] = []
    var providers: [String: IssuerKeys] = [:]
    var users: [String: (keys: IssuerKeys, users: ForeignUsers)] = [:]
    for issuer in issuers {
      let keys = IssuerKeys(issuer, clock: clock, logger: logger)
      all.append(keys)
      if issuer.use != .firebase { providers[issuer.provider.id] = keys }
      guard let verifier = issuer.users else { continue }
      for name in issuer.provider.issuers { users[name] = (keys, verifier) }
    }
    self.all = all
    self.providers = providers
    self.users = users
  }

  func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity? {
    guard let keys = providers[provider] else { return nil }
    // Nothing is fetched for what is no token.
    let key = try WebToken(parsing: token).keyID
    return try ForeignIdentity(
      token, from: keys.provider, keys: try await keys.keys(for: key), nonce: nonce, at: clock.now())
  }

  func identity(_ token: String, by provider: IdentityProvider, nonce: String?) async throws(TokenError) -> ForeignIdentity {
    let key = try WebToken(parsing: token).keyID
    guard let keys = keys(of: provider) else { throw .keysUnavailable(provider.id) }
    return try ForeignIdentity(token, from: provider, keys: try await keys.keys(for: key), nonce: nonce, at: clock.now())
  }

  /// The keys of a provider's issuer; nil where too many were asked for.
  private func keys(of provider: IdentityProvider) -> IssuerKeys? {
    guard case .discovery(let issuer) = provider.keys else { return nil }
    return added.withLock { added in
      if let known = added[issuer] { return known }
      guard added.count < Self.addedMax else { return nil }
      let keys = IssuerKeys(
        TrustedIssuer(provider: provider, use: .signIn, authority: nil), clock: clock, logger: logger)
      added[issuer] = keys
      arrival.yield(keys)
      return keys
    }
  }

  func serviceAccountKey(_ email: String, id: KeyID?) -> VerificationKey? {
    serviceAccounts?.customTokenKey(of: email, id: id)
  }

  func user(of text: String, at now: Int64) throws(TokenError) -> IDToken? {
    guard !users.isEmpty, let token = try? WebToken(parsing: text), let issuer = token.claims["iss"]?.string,
      let (keys, users) = users[issuer]
    else { return nil }
    return try users.user(of: text, keys: try keys.keysAtHand(for: token.keyID), at: now)
  }

  /// Keeps the keys fresh until the task is cancelled: at the start, and whenever their publishers' time is over.
  @Sendable func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for keys in all { group.addTask { await keys.run() } }
      group.addTask { [self] in
        while true {
          try await clock.sleep(until: clock.now() + Self.interval)
          for keys in all + added.withLock({ Array($0.values) }) { keys.refresh() }
        }
      }
      for await keys in arrivals { group.addTask { await keys.run() } }
      try await group.waitForAll()
    }
  }
}
