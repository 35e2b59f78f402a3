import TreeModel

/// The hash of a password with all that is needed to check one against it: what an account stores, as one text.
///
/// `$scheme$name=value,…$salt$hash`, numbers in decimal, bytes as base64url. Secret: it never leaves the server but in an
/// admin's export.
public struct PasswordRecord: Sendable, Hashable {
  /// The longest text, in bytes.
  public static let textMax = 4096
  /// The longest password that is looked at, in bytes.
  public static let passwordMax = 4096

  let scheme: PasswordScheme
  /// The salt, as it was imported or drawn; empty for bcrypt.
  public let salt: [UInt8]
  /// The hash, as it was imported or made; for bcrypt the text that begins with `$2`.
  public let hash: [UInt8]

  init?(scheme: PasswordScheme, salt: [UInt8], hash: [UInt8]) {
    guard scheme.isBounded(hashSize: hash.count), salt.count <= 256 else { return nil }
    if case .bcrypt = scheme, Bcrypt.Parsed(hash) == nil { return nil }
    self.scheme = scheme
    self.salt = salt
    self.hash = hash
  }

  /// Reads a stored text; nil if it is none.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.textMax else { return nil }
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, let salt = Base64.decode(parts[3].utf8), let hash = Base64.decode(parts[4].utf8)
    else { return nil }
    var parameters: [String: String] = [:]
    for pair in parts[2].split(separator: ",") {
      guard let equals = pair.firstIndex(of: "=") else { return nil }
      parameters[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
    }
    guard let scheme = PasswordScheme(name: String(parts[1]), parameters) else { return nil }
    self.init(scheme: scheme, salt: salt, hash: hash)
  }

  /// The text to store.
  public var text: String {
    let parameters = scheme.parameters.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
    return "$\(scheme.name)$\(parameters)$\(Base64.encode(salt, as: .url))$\(Base64.encode(hash, as: .url))"
  }

  /// Whether a password is the one. Takes as long as the scheme takes: milliseconds to seconds, and up to 128 MB of memory;
  /// never on an event loop, and few at a time.
  public func matches(_ password: String) -> Bool {
    let bytes = Array(password.utf8)
    guard bytes.count <= Self.passwordMax else { return false }
    if case .bcrypt = scheme {
      guard let parsed = Bcrypt.Parsed(hash) else { return false }
      return SecretComparison.areEqual(Bcrypt.hash(bytes, salt: parsed.salt, cost: parsed.cost), parsed.hash)
    }
    guard let made = scheme.hash(bytes, salt: salt, size: hash.count) else { return false }
    return SecretComparison.areEqual(made, hash)
  }
}
