extension Key {
  /// The first key of what the log, the events and the functions know of accounts: `/.accounts/UID/…`.
  ///
  /// No client can name it: a key from outside holds no dot. In binary form it stands behind ``PathBytes/afterAll``, so that
  /// no read, listen, index, export or hash of the tree ever comes across it; only the caller for it by name finds it.
  public static let accounts = Key(unchecked: ".accounts")
}

extension Path {
  /// Whether this is, or lies below, the place of the accounts: none of the tree's.
  public var isAccounts: Bool { keys.first == .accounts }

  /// Reads a path as ``description`` writes it, below the place of the accounts too.
  ///
  /// For ids that the server gave out; paths of clients are read by ``init(parsing:)``, which knows no such place.
  public init(parsingInternal text: some StringProtocol) throws(PathError) {
    let prefix = "/\(Key.accounts.text)"
    guard text == prefix || text.hasPrefix(prefix + "/") else {
      self = try Path(parsing: text)
      return
    }
    // A provider's name holds dots, which Key would refuse; what else it refuses stands in no account's path.
    let keys = String(text).utf8.split(separator: UInt8(ascii: "/")).map { Key(unchecked: String(Substring($0))) }
    guard keys.count <= Self.depthMax, keys.allSatisfy({ $0.text.utf8.count <= Key.bytesMax }) else {
      throw PathError(.tooDeep, key: "")
    }
    self.init(keys: keys)
  }
}

extension PathBytes {
  /// Whether this is, or lies below, the place of the accounts.
  public var isAccounts: Bool { bytes.count > 2 && bytes[0] == 0xFF && bytes[1] == 0xFF }
}

extension PathPattern {
  /// Reads a pattern as ``description`` writes it, below the place of the accounts too; for what the server itself wrote.
  public init(parsingInternal text: some StringProtocol) throws(PatternError) {
    let prefix = "/\(Key.accounts.text)/"
    self =
      text.hasPrefix(prefix)
      ? try PathPattern(parsing: text.dropFirst(prefix.count)).belowAccounts : try PathPattern(parsing: text)
  }
}
