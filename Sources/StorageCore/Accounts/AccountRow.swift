public import TreeModel

/// One row of the tables of accounts.
public enum AccountRow: Sendable, Hashable {
  case account(AccountRecord)
  /// Whom an identifier leads to.
  case identifier(AccountIdentifier, uid: String)
  case refreshToken(RefreshTokenRecord)
  case code(AccountCodeRecord)
  case revocation(AccountRevocation)
  /// What a project's administrators set about its accounts, as one object.
  case settings(JSON)

  /// What a row is found by.
  public enum Key: Sendable, Hashable {
    case account(ExactKey)
    case identifier(kind: ExactKey, value: ExactKey)
    case refreshToken(hash: [UInt8])
    case code(hash: [UInt8])
    case revocation(ExactKey)
    case settings

    /// An account, by its uid.
    public static func account(_ uid: String) -> Key { .account(ExactKey(text: uid)) }
    /// A revocation, by the uid.
    public static func revocation(_ uid: String) -> Key { .revocation(ExactKey(text: uid)) }
    /// Whom an identifier leads to.
    public static func identifier(_ identifier: AccountIdentifier) -> Key {
      .identifier(kind: ExactKey(text: identifier.storedKind), value: ExactKey(text: identifier.value))
    }
  }

  /// What it is found by.
  public var key: Key {
    switch self {
    case .account(let record): .account(record.uid)
    case .identifier(let identifier, _): .identifier(identifier)
    case .refreshToken(let record): .refreshToken(hash: record.hash)
    case .code(let record): .code(hash: record.hash)
    case .revocation(let revocation): .revocation(revocation.uid)
    case .settings: .settings
    }
  }
}

/// A code that was sent by mail, good for one use. Only a hash of it is stored.
public struct AccountCodeRecord: Sendable, Hashable {
  /// What the code does, by the names of `requestType` (Identity Toolkit, `accounts:sendOobCode`).
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case emailSignIn = "EMAIL_SIGNIN"
    case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"
  }

  /// SHA-256 of the code.
  public let hash: [UInt8]
  /// What the code does.
  public let kind: Kind
  /// The address that it went to, and that it acts on.
  public let email: String
  /// The address that it changes to.
  public let newEmail: String?
  /// The account; nil for a sign-in, which may make one.
  public let uid: String?
  /// Milliseconds since 1970.
  public let expiresAt: Int64

  public init(hash: [UInt8], kind: Kind, email: String, newEmail: String? = nil, uid: String?, expiresAt: Int64) {
    self.hash = hash
    self.kind = kind
    self.email = email
    self.newEmail = newEmail
    self.uid = uid
    self.expiresAt = expiresAt
  }
}

/// What a refresh token stands for. Of the token itself only a hash is stored.
public struct RefreshTokenRecord: Sendable, Hashable {
  /// SHA-256 of the token.
  public let hash: [UInt8]
  /// Whose session it is.
  public let uid: String
  /// How the player signed in: every ID token of this session says so.
  public let provider: String
  /// The claims of the custom token that the player signed in with, as JSON text.
  public let claims: String?
  /// The second factor that the player showed, as the token service writes it: `totp/ID`; nil for none.
  public let secondFactor: String?
  /// When the player signed in, in seconds since 1970 (`auth_time`).
  public let authTime: Int64
  /// When it was issued or, within a day, last used; in milliseconds since 1970. What made older tokens void did not make
  /// void this one. Negative once it was ended before its time: minus the time at which it was.
  public var issuedAt: Int64

  /// When it was ended before its time, in milliseconds since 1970; nil if it was not.
  public var endedAt: Int64? { issuedAt < 0 ? -issuedAt : nil }

  public init(
    hash: [UInt8], uid: String, provider: String, claims: String?, secondFactor: String? = nil, authTime: Int64,
    issuedAt: Int64
  ) {
    self.hash = hash
    self.uid = uid
    self.provider = provider
    self.claims = claims
    self.secondFactor = secondFactor
    self.authTime = authTime
    self.issuedAt = issuedAt
  }
}

/// That tokens of an account which were issued before a second are void: kept for as long as such a token could live.
public struct AccountRevocation: Sendable, Hashable {
  /// Why.
  public enum Reason: String, Sendable, Hashable {
    /// The password or address changed, an administrator revoked, an identity was linked.
    case revoked
    case disabled
    case deleted
  }

  /// Whose tokens.
  public let uid: String
  /// Why.
  public let reason: Reason
  /// In seconds since 1970: tokens with an earlier `iat` are void.
  public let notBefore: Int64
  /// From when on they are refused where they are not looked up each time, in milliseconds since 1970. A little later than
  /// now if the player's own deed made them void: the next token is on its way.
  public let effectiveAt: Int64

  public init(uid: String, reason: Reason, notBefore: Int64, effectiveAt: Int64) {
    self.uid = uid
    self.reason = reason
    self.notBefore = notBefore
    self.effectiveAt = effectiveAt
  }
}

/// What can be looked up about accounts, in a snapshot and by the writer.
public protocol AccountReading {
  /// The row of a key; nil if there is none.
  func accountRow(in namespace: NamespaceID, key: AccountRow.Key) throws(StorageError) -> AccountRow?
  /// The sessions of an account, the oldest first. The writer gives those that were stored before the batch it is in.
  func refreshTokens(in namespace: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord]
}

extension AccountReading {
  /// The account of a uid.
  public func account(in namespace: NamespaceID, uid: String) throws(StorageError) -> AccountRecord? {
    guard case .account(let record)? = try accountRow(in: namespace, key: .account(uid)) else { return nil }
    return record
  }

  /// The account that an identifier leads to.
  public func account(in namespace: NamespaceID, identifier: AccountIdentifier) throws(StorageError) -> AccountRecord? {
    guard case .identifier(_, let uid)? = try accountRow(in: namespace, key: .identifier(identifier)) else { return nil }
    return try account(in: namespace, uid: uid)
  }
}

/// Listings of accounts, for a snapshot; bounded like all listings.
public protocol AccountListing: AccountReading {
  /// By uid, after the one given.
  func accounts(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord]
  /// Anonymous accounts that were not used since `time`, the longest unused first, behind the one given.
  func anonymousAccounts(in namespace: NamespaceID, unusedSince time: Int64, after last: AccountRecord?, limit: Int)
    throws(StorageError) -> [AccountRecord]
  /// Sessions by the hash of their tokens, after the one given.
  func refreshTokens(in namespace: NamespaceID, after hash: [UInt8]?, limit: Int) throws(StorageError)
    -> [RefreshTokenRecord]
  /// Identifiers of one kind (``AccountIdentifier/storedKind``) and whom they lead to, by the bytes of their values, after the
  /// one given.
  func identifiers(in namespace: NamespaceID, kind: String, after value: String?, limit: Int) throws(StorageError)
    -> [(identifier: AccountIdentifier, uid: String)]
  func accountCount(in namespace: NamespaceID) throws(StorageError) -> Int64
  /// How many identifiers of one kind (``AccountIdentifier/storedKind``) there are.
  func identifierCount(in namespace: NamespaceID, kind: String) throws(StorageError) -> Int64
  /// Every revocation that is kept.
  func accountRevocations(in namespace: NamespaceID) throws(StorageError) -> [AccountRevocation]
}
