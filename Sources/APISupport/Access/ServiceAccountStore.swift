package import Credentials
package import HTTPServer
import NIOHTTP1
package import StorageCore
import Synchronization
package import TreeDatabase

/// The service accounts, in memory for every request, in the store for good.
///
/// One for each server: no other process writes the store, so memory and store agree. A revoked account's tokens end at
/// once, for every request looks here.
package final class ServiceAccountStore: Sendable {
  /// An account that may sign in.
  private struct Live {
    let record: ServiceAccountRecord
    let role: AdminRole
    let key: VerificationKey
  }

  private let database: Database
  private let project: String
  private let namespace: String
  private let keys: CurrentKeys
  private let tokens: AccessTokens
  /// By the key's name.
  private let live: Mutex<[KeyID: Live]>
  private let listeners = Mutex<[@Sendable (String, Int64) -> Void]>([])

  /// Reads the accounts of the store.
  ///
  /// - `keys`: what access tokens are authenticated with.
  /// - `project`: part of the accounts' mail addresses.
  /// - `namespace`: the server's own namespace, whose commits carry the accounts' rows.
  package init(database: Database, keys: CurrentKeys, project: String, namespace: String) throws {
    self.database = database
    self.project = project
    self.namespace = namespace
    self.keys = keys
    tokens = AccessTokens(keys: keys)
    var live: [KeyID: Live] = [:]
    let records = try database.engine.read { snapshot in try snapshot.serviceAccounts() }
    for record in records where record.revokedAt == nil {
      guard let account = Self.live(record) else {
        throw StorageError(
          .damaged, "The record of the service account \(record.name) is damaged. Restore a backup, or remove its row.")
      }
      live[KeyID(record.keyID)] = account
    }
    self.live = Mutex(live)
  }

  private static func live(_ record: ServiceAccountRecord) -> Live? {
    guard let role = AdminRole(rawValue: record.role), let key = try? VerificationKey(pem: record.publicKey) else { return nil }
    return Live(record: record, role: role, key: key)
  }
}

extension ServiceAccountStore {
  /// The public key of an account that may sign custom tokens, by its mail address and its key's name. Nil if there is none:
  /// a custom token can be for any player, which takes the role of administrators.
  ///
  /// - `id`: SDKs name no key in custom tokens; then it is the account's one key.
  package func customTokenKey(of email: String, id: KeyID?) -> VerificationKey? {
    guard let account = account(of: email, id: id), account.role == .admin else { return nil }
    return account.key
  }

  /// The live account of this address, with this key; without a key's name its one key.
  private func account(of email: String, id: KeyID?) -> Live? {
    let account = live.withLock { live in
      if let id { return live[id] }
      return live.values.first { $0.record.email == email }
    }
    return account?.record.email == email ? account : nil
  }

  /// Whether the account that an access token was bought with still stands.
  func isGood(_ grant: AccessGrant) -> Bool { live.withLock { $0[grant.keyID] != nil } }

  /// From now on `listener` is told of accounts that are revoked, by their names and the time, once that is durable.
  package func listen(_ listener: @escaping @Sendable (_ name: String, _ time: Int64) -> Void) {
    listeners.withLock { $0.append(listener) }
  }

  /// Whom an access token stands for; nil if the text is none of this server's.
  ///
  /// - Throws: ``AccessError`` if it is one, but expired, forged or of a revoked account.
  package func caller(_ text: String) throws(AccessError) -> Caller? {
    guard text.hasPrefix(AccessTokens.prefix) else { return nil }
    let grant: AccessGrant
    do {
      grant = try tokens.grant(text, at: database.clock.now())
    } catch {
      throw AccessError(error.description)
    }
    guard isGood(grant) else {
      throw AccessError("The service account \(grant.account) was revoked.")
    }
    return Caller(serviceAccount: grant)
  }

  /// An access token for what an account has signed, with its remaining seconds.
  package func exchange(_ assertion: String) throws(TokenError) -> (token: String, seconds: Int64) {
    let now = database.clock.now()
    let signed = try ServiceAccountAssertion(assertion, at: now) { email, id in
      guard let account = account(of: email, id: id) else { return nil }
      return ServiceAccountAssertion.Signer(
        id: KeyID(account.record.keyID), key: account.key, tokenURI: account.record.tokenURI)
    }
    guard let account = live.withLock({ $0[signed.keyID] }) else { throw .unknownKey(signed.keyID) }
    // An assertion that is a little over its time by this clock still gives a minute.
    let end = max(min(signed.expiresAt, now / 1000 + AccessTokens.lifetimeMax), now / 1000 + TokenTimes.skew)
    let grant = AccessGrant(account: account.record.name, keyID: signed.keyID, role: account.role, expiresAt: end)
    return (tokens.token(for: grant, at: now), end - now / 1000)
  }
}

extension ServiceAccountStore {
  /// Makes an account.
  ///
  /// - `key`: what its file will hold; made by the caller, for that takes long.
  /// - Throws: ``APIError`` if the name is taken, or the store cannot keep it.
  package func create(_ key: ServiceAccountKey, role: AdminRole, by actor: Actor) async throws -> ServiceAccountRecord {
    let record = ServiceAccountRecord(
      name: key.name, keyID: key.key.id.text, email: key.email, role: role.rawValue, publicKey: key.key.verificationKey.pem,
      tokenURI: key.tokenURI, createdAt: database.clock.now(), createdBy: actor)
    let account = Live(record: record, role: role, key: key.key.verificationKey)
    // The name is taken from here on: of two that come at once, one is refused.
    let isFree = live.withLock { live in
      if live.values.contains(where: { $0.record.name == key.name }) { return false }
      live[key.key.id] = account
      return true
    }
    guard isFree else {
      throw APIError(
        .conflict, "name_taken", "There is a service account \(key.name) already; revoke it first, or choose another name.")
    }
    do {
      try await store(record, by: actor)
    } catch {
      live.withLock { _ = $0.removeValue(forKey: key.key.id) }
      throw error
    }
    return record
  }

  /// Revokes an account: its tokens are void from now on.
  package func revoke(_ name: String, by actor: Actor) async throws {
    let found = live.withLock { live in live.values.first { $0.record.name == name } }
    guard var record = found?.record else {
      throw APIError(
        .notFound, "not_found", "There is no service account \(name); \"doubloon service-account list\" shows them.")
    }
    let time = database.clock.now()
    record.revokedAt = time
    try await store(record, by: actor)
    live.withLock { _ = $0.removeValue(forKey: KeyID(record.keyID)) }
    for listener in listeners.withLock({ $0 }) { listener(name, time) }
  }

  private func carrier() async throws -> NamespaceID {
    if let there = database.carrier(named: namespace) { return there }
    return try await database.openNamespace(named: namespace)
  }

  private func store(_ record: ServiceAccountRecord, by actor: Actor) async throws {
    var request = CommitRequest(namespace: try await carrier(), actor: actor)
    var maintenance = Maintenance()
    maintenance.serviceAccounts = [record]
    request.rows.maintenance = maintenance
    _ = try await database.commit(request)
  }

  /// Of what the addresses of new accounts are made.
  package var projectName: String { project }
}
