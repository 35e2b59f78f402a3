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
      .identifier(kind: ExactKey(text: identifier.kind), value: ExactKey(text: identifier.value))
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
