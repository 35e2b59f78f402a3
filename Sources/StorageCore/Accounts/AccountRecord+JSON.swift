import TextFormats
public import TreeModel

/// The stored form of a record: an object, so that a field that comes later needs no new column. The uid and the password
/// stand in columns of their own.
extension AccountRecord {
  /// The record's object, without uid and password.
  public var storedJSON: JSON {
    var members: [(String, JSON?)] = [
      ("email", email.map(JSON.string)), ("emailVerified", isEmailVerified ? true : nil),
      ("displayName", displayName.map(JSON.string)), ("photoUrl", photoURL.map(JSON.string)),
      ("phoneNumber", phoneNumber.map(JSON.string)), ("passwordUpdatedAt", passwordUpdatedAt.map(JSON.int)),
      ("providers", providers.isEmpty ? nil : .array(providers.map(\.storedJSON))), ("createdAt", .int(createdAt)),
      ("bornAt", .int(bornAt)), ("lastLoginAt", lastLoginAt.map(JSON.int)), ("lastRefreshAt", lastRefreshAt.map(JSON.int)),
      ("validSince", validSince.map(JSON.int)), ("disabled", isDisabled ? true : nil), ("claims", claims.map(JSON.string)),
    ]
    members += [
      ("custom", isCustom ? true : nil), ("emailLink", signsInByLink ? true : nil),
      ("initialEmail", initialEmail.map(JSON.string)), ("linkedAt", linkedAt.map(JSON.int)),
      (
        "links",
        links.isEmpty
          ? nil : .object(links.sorted { $0.key < $1.key }.map { JSON.Member(key: $0.key, value: .bool($0.value)) })
      ),
      ("signInProvider", signInProvider.map(JSON.string)),
      ("network", network.map(JSON.string)),
      ("secondFactors", secondFactors.isEmpty ? nil : .array(secondFactors.map(\.storedJSON))),
      ("tenantId", tenant.map(JSON.string)),
    ]
    return JSON(fields: members)
  }

  /// Reads what ``storedJSON`` wrote; nil if it cannot have.
  public init?(uid: String, password: String?, storedJSON json: JSON) {
    guard let createdAt = json["createdAt"]?.int, let bornAt = json["bornAt"]?.int else { return nil }
    self.init(uid: uid, createdAt: createdAt, bornAt: bornAt)
    self.password = password
    tenant = json["tenantId"]?.string
    email = json["email"]?.string
    isEmailVerified = json["emailVerified"]?.bool ?? false
    displayName = json["displayName"]?.string
    photoURL = json["photoUrl"]?.string
    phoneNumber = json["phoneNumber"]?.string
    passwordUpdatedAt = json["passwordUpdatedAt"]?.int
    providers = (json["providers"]?.array ?? []).compactMap(Provider.init(storedJSON:))
    lastLoginAt = json["lastLoginAt"]?.int
    lastRefreshAt = json["lastRefreshAt"]?.int
    validSince = json["validSince"]?.int
    isDisabled = json["disabled"]?.bool ?? false
    claims = json["claims"]?.string
    isCustom = json["custom"]?.bool ?? false
    signsInByLink = json["emailLink"]?.bool ?? false
    initialEmail = json["initialEmail"]?.string
    linkedAt = json["linkedAt"]?.int
    for member in json["links"]?.object ?? [] { links[member.key] = member.value.bool }
    signInProvider = json["signInProvider"]?.string
    network = json["network"]?.string
    for stored in json["secondFactors"]?.array ?? [] {
      // Never left out: a player who set it could sign in without it.
      guard let factor = SecondFactor(storedJSON: stored) else { return nil }
      secondFactors.append(factor)
    }
  }
}

extension AccountRecord.Provider {
  fileprivate var storedJSON: JSON {
    JSON(fields: [
      ("id", .string(id)), ("rawId", .string(rawID)), ("email", email.map(JSON.string)),
      ("displayName", displayName.map(JSON.string)), ("photoUrl", photoURL.map(JSON.string)),
      ("screenName", screenName.map(JSON.string)), ("phoneNumber", phoneNumber.map(JSON.string)),
    ])
  }

  fileprivate init?(storedJSON json: JSON) {
    guard let id = json["id"]?.string, let rawID = json["rawId"]?.string else { return nil }
    self.init(
      id: id, rawID: rawID, email: json["email"]?.string, displayName: json["displayName"]?.string,
      photoURL: json["photoUrl"]?.string, screenName: json["screenName"]?.string, phoneNumber: json["phoneNumber"]?.string)
  }
}

extension SecondFactor {
  fileprivate var storedJSON: JSON {
    let own: [(String, JSON?)] =
      switch proof {
      case .phone(let number): [("phone", .string(number))]
      case .authenticator(let secret, let lastStep):
        [("secret", .array(secret.map { .int(Int64($0)) })), ("lastStep", .int(lastStep))]
      }
    return JSON(
      fields: [("id", .string(id)), ("name", displayName.map(JSON.string)), ("enrolledAt", .int(enrolledAt))] + own)
  }

  fileprivate init?(storedJSON json: JSON) {
    guard let id = json["id"]?.string, let enrolledAt = json["enrolledAt"]?.int else { return nil }
    let proof: Proof
    if let number = json["phone"]?.string {
      proof = .phone(number: number)
    } else {
      guard let numbers = json["secret"]?.array, let lastStep = json["lastStep"]?.int else { return nil }
      let secret = numbers.compactMap { $0.int.flatMap(UInt8.init(exactly:)) }
      guard secret.count == numbers.count else { return nil }
      proof = .authenticator(secret: secret, lastStep: lastStep)
    }
    self.init(id: id, displayName: json["name"]?.string, enrolledAt: enrolledAt, proof: proof)
  }
}

/// What functions, the log and replays may know of an account: no hash, no salt, no token.
extension AccountRecord {
  /// Where the public part stands: `/.accounts/UID`.
  public var path: Path { Self.path(of: uid) }

  /// Where the public part of an account stands.
  ///
  /// A uid that is no legal key is written percent-encoded; so is one with a percent sign, that no two share a place.
  public static func path(of uid: String) -> Path { Path(keys: [.accounts, Key(unchecked: encoded(uid))]) }

  /// The public part as a node: `uid`, `createdAt`, `anonymous`, `email`, `emailVerified`, `displayName`, `photoUrl`,
  /// `phoneNumber`, `disabled`, `claims`, `providers` (name: who the player is there) and `links` (name: `anonymous` or
  /// `account`, what the account was when the identity was added), `network` (a keyed hash of the client network that the
  /// account was made from) and `tenantId`. What is false or missing is left out.
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
      ("network", Self.text(network)), ("tenantId", Self.text(tenant)),
    ]
    return .map(TreeMap(entries.map { TreeMap.Entry(key: Key(unchecked: $0.0), node: $0.1) }))
  }

  private static func text(_ value: String?) -> TreeNode { value.map { .leaf(.string($0)) } ?? .absent }
  private static func flag(_ value: Bool) -> TreeNode { value ? .leaf(.bool(true)) : .absent }
  private static func map(_ entries: [String: TreeNode]) -> TreeNode {
    .map(TreeMap(entries.map { TreeMap.Entry(key: Key(unchecked: encoded($0.key, dots: true)), node: $0.value) }))
  }

  /// - `dots`: whether a dot may stay: below an account nothing is read as a client's path.
  private static func encoded(_ text: String, dots: Bool = false) -> String {
    let mustEscape = { (byte: UInt8) in
      byte < 0x20 || byte == 0x7F || "$#[]/%".utf8.contains(byte) || (byte == UInt8(ascii: ".") && !dots)
    }
    return PercentEncoding.encode(text, where: mustEscape)
  }
}
