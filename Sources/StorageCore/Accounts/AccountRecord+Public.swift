public import TreeModel

/// What functions, the log and replays may know of an account: no hash, no salt, no token.
extension AccountRecord {
  /// Where the public part stands: `/.accounts/UID`.
  public var place: Path { Self.place(of: uid) }

  /// Where the public part of an account stands.
  ///
  /// A uid that is no legal key is written percent-encoded; so is one with a percent sign, that no two share a place.
  public static func place(of uid: String) -> Path { Path(keys: [.accounts, Key(unchecked: encoded(uid))]) }

  /// The public part as a node: `uid`, `createdAt`, `anonymous`, `email`, `emailVerified`, `displayName`, `photoUrl`,
  /// `phoneNumber`, `disabled`, `claims`, `providers` (name: who the player is there) and `links` (name: `anonymous` or
  /// `account`, what the account was when the identity was added) and `network` (a keyed hash of the client network that the
  /// account was made from). What is false or missing is left out.
  public var publicNode: TreeNode {
    var identities: [String: String] = [:]
    for provider in providers { identities[provider.id] = provider.rawID }
    if providerIDs.contains("password") { identities["password"] = email }
    if let phoneNumber { identities["phone"] = phoneNumber }
    let entries: [(String, TreeNode)] = [
      ("uid", .leaf(.string(uid))), ("createdAt", .leaf(.int(createdAt))), ("anonymous", Self.flag(isAnonymous)),
      ("email", Self.text(email)), ("emailVerified", Self.flag(isEmailVerified)), ("displayName", Self.text(displayName)),
      ("photoUrl", Self.text(photoURL)), ("phoneNumber", Self.text(phoneNumber)), ("disabled", Self.flag(isDisabled)),
      ("claims", Self.text(claims)), ("providers", Self.map(identities.mapValues { .leaf(.string($0)) })),
      ("links", Self.map(links.mapValues { .leaf(.string($0 ? "anonymous" : "account")) })),
      ("network", Self.text(network)),
    ]
    return .map(TreeMap(entries.map { TreeMap.Entry(key: Key(unchecked: $0.0), node: $0.1) }))
  }

  private static func text(_ value: String?) -> TreeNode { value.map { .leaf(.string($0)) } ?? .absent }
  private static func flag(_ value: Bool) -> TreeNode { value ? .leaf(.bool(true)) : .absent }
  private static func map(_ entries: [String: TreeNode]) -> TreeNode {
    .map(TreeMap(entries.map { TreeMap.Entry(key: Key(unchecked: encoded($0.key, dots: true)), node: $0.value) }))
  }

  /// - Parameter dots: whether a dot may stay: below an account nothing is read as a client's path.
  private static func encoded(_ text: String, dots: Bool = false) -> String {
    let mustEscape = { (byte: UInt8) in
      byte < 0x20 || byte == 0x7F || "$#[]/%".utf8.contains(byte) || (byte == UInt8(ascii: ".") && !dots)
    }
    guard text.utf8.contains(where: mustEscape) else { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if mustEscape(byte) {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
