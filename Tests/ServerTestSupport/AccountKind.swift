package import Accounts
package import Credentials
package import IdentityAPI
import StorageCore
import Synchronization
import TestSupport
package import TreeDatabase

/// How the accounts of a test server are kept.
package struct AccountKind: Sendable {
  /// What was announced instead of mailed.
  final class Announcements: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  package var mode = IDTokenIssuer.Mode.unsigned
  package var options = AccountOptions()
  var identities: any IdentityProving = NoIdentities()
  /// Users whose tokens somebody else issues.
  package var foreign: (any ForeignAuthenticating)?
  package var mail: (any CodeMailing)?
  let announced = Announcements()

  package init(
    mode: IDTokenIssuer.Mode = IDTokenIssuer.Mode.unsigned, options: AccountOptions = AccountOptions(),
    identities: any IdentityProving = NoIdentities(), foreign: (any ForeignAuthenticating)? = nil,
    mail: (any CodeMailing)? = nil
  ) {
    self.mode = mode
    self.options = options
    self.identities = identities
    self.foreign = foreign
    self.mail = mail
  }

  /// As `doubloon dev` keeps them.
  package static var development: AccountKind {
    var kind = AccountKind()
    kind.options.isDevelopment = true
    kind.options.signUpsPerHour = nil
    return kind
  }

  /// As `doubloon dev` keeps them, but with the rules of `doubloon serve`.
  package static var strict: AccountKind {
    var kind = development
    kind.options.isDevelopment = false
    return kind
  }

  /// As `doubloon serve` keeps them.
  package static var production: AccountKind {
    var kind = AccountKind()
    kind.mode = .signed
    kind.options.publicURL = "https://rewards.example"
    return kind
  }

  package func accounts(_ database: Database, _ watch: AccountWatch) throws -> AccountService {
    let ring = KeyRing([KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: 0)])
    return AccountService(
      store: AccountStore(engine: database.engine, writer: database, watch: watch, clock: database.clock),
      issuer: IDTokenIssuer(mode: mode, keys: CurrentKeys(ring)),
      hashing: PasswordHashing(hasher: PasswordHasher(cost: .test), threads: .inPlace), options: options,
      identities: identities, delivery: CodeDelivery(mail: mail, announce: announced.add), random: SplitMix64(seed: 7))
  }
}
