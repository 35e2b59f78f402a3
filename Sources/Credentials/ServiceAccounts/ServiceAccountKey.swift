public import TreeModel

/// The key of a service account, as it is handed out: once, as a file of Google's format that admin SDKs read.
public struct ServiceAccountKey: Sendable {
  /// The longest name, in characters.
  public static let nameMax = 63

  /// The account's name: small letters, digits and hyphens.
  public let name: String
  /// The project that it works for.
  public let project: String
  /// The account's mail address: its name towards the server (`iss`).
  public var email: String { Self.email(of: name, in: project) }
  /// The server's address as SDKs reach it, such as `https://rewards.example.com`, without a slash at the end.
  public let server: String
  /// Where SDKs get access tokens (`token_uri`).
  public var tokenURI: String { server + "/token" }
  /// The key; its public half is what the server keeps.
  public let key: SigningKey

  /// - Precondition: the name is legal (``isLegal(name:)``).
  public init(name: String, project: String, server: String, key: SigningKey) {
    precondition(Self.isLegal(name: name), "\(name) is no name for a service account.")
    self.name = name
    self.project = project
    self.server = server
    self.key = key
  }

  /// Reads a key file; nil if it is none of this product's.
  public init?(file: JSON) {
    guard file["type"]?.string == "service_account", let email = file["client_email"]?.string,
      let tokenURI = file["token_uri"]?.string, tokenURI.hasSuffix("/token"),
      let key = file["private_key"]?.string.flatMap({ try? SigningKey(pem: $0) })
    else { return nil }
    let name = String(email.prefix { $0 != "@" })
    let project = String(email.dropFirst(name.count + 1).prefix { $0 != "." })
    guard Self.isLegal(name: name), Self.email(of: name, in: project) == email else { return nil }
    self.init(name: name, project: project, server: String(tokenURI.dropLast("/token".count)), key: key)
  }

  /// What the account signs to get an access token.
  ///
  /// - Parameter now: milliseconds since 1970.
  public func assertion(at now: Int64) throws(TokenFault) -> String {
    try key.token([
      "iss": .string(email), "sub": .string(email), "aud": .string(tokenURI), "iat": .int(now / 1000),
      "exp": .int(now / 1000 + ServiceAccountAssertion.lifetimeMax),
    ])
  }

  /// The mail address of an account of this name.
  public static func email(of name: String, in project: String) -> String { "\(name)@\(project).iam.gserviceaccount.com" }

  /// Whether an account may be called so: 1 to 63 of `a-z`, `0-9` and `-`, a letter first.
  public static func isLegal(name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first), bytes.count <= nameMax else {
      return false
    }
    return bytes.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
  }

  /// The key file's content.
  public var file: JSON {
    [
      "type": "service_account", "project_id": .string(project), "private_key_id": .string(key.id.text),
      "private_key": .string(key.pem + "\n"), "client_email": .string(email), "client_id": .string(clientID),
      "token_uri": .string(tokenURI), "universe_domain": "googleapis.com",
    ]
  }

  /// Google's client ids are numbers of 21 digits; this one comes from the key's name.
  private var clientID: String {
    let number = key.id.text.utf8.reduce(UInt64(17)) { ($0 &* 1_099_511_628_211) ^ UInt64($1) }
    let digits = String(number)
    return "1" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }
}
