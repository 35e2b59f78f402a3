/// One player's account, as it is stored.
///
/// Times are milliseconds since 1970 but for ``validSince``. Two things in it are secret, and leave the server only to an
/// administrator who exports: ``password``, kept in a column of its own, and the secrets of authenticators.
public struct AccountRecord: Sendable, Hashable {
  /// An identity at someone else: a Google or an OpenID Connect account.
  public struct Provider: Sendable, Hashable {
    /// `google.com`, `apple.com`, `oidc.NAME`.
    public var id: String
    /// Who the player is there (`sub`).
    public var rawID: String
    /// The address there, as the provider told it.
    public var email: String?
    /// The name there.
    public var displayName: String?
    /// The picture there.
    public var photoURL: String?
    /// The handle there.
    public var screenName: String?
    /// The number there.
    public var phoneNumber: String?

    public init(
      id: String, rawID: String, email: String? = nil, displayName: String? = nil, photoURL: String? = nil,
      screenName: String? = nil, phoneNumber: String? = nil
    ) {
      self.id = id
      self.rawID = rawID
      self.email = email
      self.displayName = displayName
      self.photoURL = photoURL
      self.screenName = screenName
      self.phoneNumber = phoneNumber
    }
  }

  /// What the tree, the ledger and the tokens call the player; never changes.
  public let uid: String
  /// The tenant whose player it is; nil for a player of the project itself. Set when the account comes into being.
  public var tenant: String?
  /// In lower case.
  public var email: String?
  /// Whether the address was seen to be the player's.
  public var isEmailVerified = false
  /// The name to show.
  public var displayName: String?
  /// The address of a picture.
  public var photoURL: String?
  /// As `+4915112345678`.
  public var phoneNumber: String?
  /// The hash with its algorithm, salt and costs, in the form of the target Credentials.
  public var password: String?
  /// When the password was set.
  public var passwordUpdatedAt: Int64?
  /// Identities elsewhere, at most one of each provider.
  public var providers: [Provider] = []
  /// When the account was made.
  public var createdAt: Int64
  /// When this record came into being: what ``createdAt`` says too, unless an import said otherwise. Tokens that are older
  /// belong to another account of the same uid, which was deleted.
  public internal(set) var bornAt: Int64
  /// The last sign-in; nil if there was none.
  public var lastLoginAt: Int64?
  /// The last refresh of a token that was noted.
  public var lastRefreshAt: Int64?
  /// In seconds since 1970: tokens that were issued before are void.
  public var validSince: Int64?
  /// Whether nobody can sign in.
  public var isDisabled = false
  /// An administrator's claims, as the JSON text that was given.
  public var claims: String?
  /// Whether it was made by a custom token.
  public var isCustom = false
  /// Whether the player signed in by a link in a mail, which counts as the provider `password`.
  public var signsInByLink = false
  /// The first address of an account whose address was changed: where the code to recover it goes.
  public var initialEmail: String?
  /// When the anonymous account got its first identity.
  public var linkedAt: Int64?
  /// For each identity that was added to an account that existed: whether it was anonymous then.
  public var links: [String: Bool] = [:]
  /// What the last sign-in or link was by.
  public var signInProvider: String?
  /// What a sign-in asks for beside the first credential: any one of these.
  public var secondFactors: [SecondFactor] = []

  /// A keyed hash of the client network that it was made from (``IdentityHash/network(_:)``); nil if no client made it.
  public var network: String?

  /// A record without anything.
  public init(uid: String, createdAt: Int64, bornAt: Int64? = nil) {
    self.uid = uid
    self.createdAt = createdAt
    self.bornAt = bornAt ?? createdAt
  }

  /// The identities by the names of their providers: those that the account was made with, then those that were added.
  public var providerIDs: [String] {
    let isPassword = email != nil && (password != nil || signsInByLink)
    let own = (isPassword ? ["password"] : []) + (phoneNumber == nil ? [] : ["phone"])
    let elsewhere = providers.map(\.id)
    return (elsewhere + own).filter { links[$0] == nil } + (own + elsewhere).filter { links[$0] != nil }
  }

  /// Whether nothing but a token stands for it: such an account is lost with its device.
  public var isAnonymous: Bool { providerIDs.isEmpty && !isCustom && email == nil }

  /// When it was last used.
  public var usedAt: Int64 { max(lastRefreshAt ?? 0, lastLoginAt ?? 0, bornAt) }
}

extension AccountRecord {
  /// The record without times that lie ahead: a clock stamped them that ran ahead and was set back, and until they came no
  /// token would be good. Nil if there are none.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: how much ahead is no concern, in milliseconds.
  public func withoutFutureStamps(to now: Int64, skew: Int64) -> AccountRecord? {
    let latest = now + skew
    guard bornAt > latest || (validSince ?? 0) > latest / 1000 else { return nil }
    var record = self
    record.bornAt = min(bornAt, now)
    record.createdAt = min(createdAt, now)
    record.lastLoginAt = lastLoginAt.map { min($0, now) }
    record.lastRefreshAt = lastRefreshAt.map { min($0, now) }
    record.validSince = validSince.map { min($0, now / 1000) }
    return record
  }
}

/// What a player shows beside the first credential: a code that went to a telephone, or one of an authenticator.
public struct SecondFactor: Sendable, Hashable {
  /// How the player proves it.
  public enum Proof: Sendable, Hashable {
    /// By a code that goes to this number, as `+4915112345678`.
    case phone(number: String)
    /// By a code that both sides make from a secret and the time (RFC 6238). No code is good twice: only those of later steps
    /// than the last one that was used.
    case authenticator(secret: [UInt8], lastStep: Int64)
  }

  /// The kinds, by the names that tokens give them (`firebase.sign_in_second_factor`).
  public enum Kind: String, Sendable, Hashable {
    case phone
    case authenticator = "totp"
  }

  /// How many an account may have; what Firebase allows too.
  public static let most = 5

  /// What the protocol calls it: `mfaEnrollmentId`.
  public let id: String
  /// What the player calls it.
  public var displayName: String?
  /// Milliseconds since 1970.
  public let enrolledAt: Int64
  /// How the player proves it.
  public var proof: Proof

  public init(id: String, displayName: String? = nil, enrolledAt: Int64, proof: Proof) {
    self.id = id
    self.displayName = displayName
    self.enrolledAt = enrolledAt
    self.proof = proof
  }

  /// Which kind it is.
  public var kind: Kind {
    switch proof {
    case .phone: .phone
    case .authenticator: .authenticator
    }
  }

  /// The number of a telephone; nil for an authenticator.
  public var phoneNumber: String? {
    guard case .phone(let number) = proof else { return nil }
    return number
  }
}

/// Something that leads to one account only: an address, a number, an identity at a provider.
public struct AccountIdentifier: Sendable, Hashable {
  /// `email`, `phone`, or a provider's name.
  public let kind: String
  /// The address, the number, the identity.
  public let value: String
  /// The tenant within which it leads to one account; nil for the project itself.
  public let tenant: String?

  public init(kind: String, value: String, tenant: String? = nil) {
    self.kind = kind
    self.value = value
    self.tenant = tenant
  }

  /// A mail address, in lower case.
  public static func email(_ address: String) -> AccountIdentifier { AccountIdentifier(kind: "email", value: address) }
  /// A telephone number, with its plus.
  public static func phone(_ number: String) -> AccountIdentifier { AccountIdentifier(kind: "phone", value: number) }
  /// That an account is one of a tenant's: by these the tenant's accounts are listed.
  public static func member(of tenant: String, uid: String) -> AccountIdentifier {
    AccountIdentifier(kind: "", value: uid, tenant: tenant)
  }

  /// The same within a tenant; one that is within a tenant already stays there.
  public func within(_ tenant: String?) -> AccountIdentifier {
    AccountIdentifier(kind: kind, value: value, tenant: self.tenant ?? tenant)
  }

  /// The kind as it is stored: behind the tenant and a slash, which no kind has.
  public var storedKind: String { Self.storedKind(kind, tenant: tenant) }

  /// The stored kind of what is within a tenant.
  public static func storedKind(_ kind: String, tenant: String?) -> String { tenant.map { "\($0)/\(kind)" } ?? kind }

  /// Reads a stored kind.
  public init(storedKind: String, value: String) {
    let parts = storedKind.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    self.init(kind: parts.last ?? "", value: value, tenant: parts.count == 2 ? parts[0] : nil)
  }
}

extension AccountRecord {
  /// Everything that leads to this account.
  public var identifiers: Set<AccountIdentifier> {
    var found = providers.map { AccountIdentifier(kind: $0.id, value: $0.rawID) }
    if let email { found.append(.email(email)) }
    if let phoneNumber { found.append(.phone(phoneNumber)) }
    if let tenant { found.append(.member(of: tenant, uid: uid)) }
    return Set(found.map { $0.within(tenant) })
  }
}

/// A text that is compared byte by byte: Swift's `==` merges different spellings of one character, the store does not.
public struct ExactKey: Sendable, Hashable {
  /// The text itself.
  public let text: String

  public init(text: String) {
    self.text = text
  }

  public static func == (a: ExactKey, b: ExactKey) -> Bool {
    a.text.utf8.count == b.text.utf8.count && a.text.utf8.elementsEqual(b.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
