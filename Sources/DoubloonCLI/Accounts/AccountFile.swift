import Links
import StorageCore
import TextFormats
import TreeModel

/// Firebase's own export formats: `{"users":[…]}`, or one line for each account.
///
/// What they have no place for stands where Firebase's importer does not look: in JSON beside the users, below `doubloon`,
/// by uid; in CSV in more columns, which hold how the password is hashed, the second factors, and the tenant.
enum AccountFile {
  /// The providers that have columns of their own, four each, from the ninth column on.
  private static let providers = ["google.com", "facebook.com", "twitter.com", "github.com"]

  /// Reads a file; CSV if its name ends so.
  static func read(_ bytes: [UInt8], from name: String) throws -> [JSON] {
    if name.hasSuffix(".csv") { return try rows(of: String(decoding: bytes, as: UTF8.self), name: name) }
    let json = try JSONInput.parse(bytes, from: name)
    guard let users = json["users"]?.array ?? json.array else {
      throw CommandError("\(name) must hold {\"users\": […]}, as \"firebase auth:export\" writes it.")
    }
    var rests: [ExactKey: JSON] = [:]
    for member in json["doubloon"]?.object ?? [] { rests[ExactKey(text: member.key)] = member.value }
    return users.map { normalized(AccountSplit.joined($0, rest: $0["localId"]?.string.flatMap { rests[ExactKey(text: $0)] })) }
  }

  static func write(_ users: [JSON], asCSV: Bool) -> [UInt8] {
    guard !asCSV else { return Array((users.map(line) + [""]).joined(separator: "\n").utf8) }
    let parts = users.map { AccountSplit($0, known: providers) }
    let rests = parts.compactMap { part -> JSON.Member? in
      guard part.rest.object?.isEmpty == false, let uid = part.user["localId"]?.string else { return nil }
      return JSON.Member(key: uid, value: part.rest)
    }
    var members = [JSON.Member(key: "users", value: .array(parts.map(\.user)))]
    if !rests.isEmpty { members.append(JSON.Member(key: "doubloon", value: .object(rests))) }
    return Array((JSON.object(members).prettyText + "\n").utf8)
  }

  /// Exports name the claims `customAttributes`, and some tools `customClaims`, as an object.
  private static func normalized(_ user: JSON) -> JSON {
    guard user["customAttributes"] == nil, let claims = user["customClaims"], claims.object != nil else { return user }
    return .object((user.object ?? []) + [JSON.Member(key: "customAttributes", value: .string(claims.compactText))])
  }

  // MARK: CSV

  /// The columns: uid, address, whether it is verified, hash, salt, name, picture, then id, address, name and picture of four
  /// providers, then when it was made, the last sign-in, the number, whether it is disabled, the claims, and last how the
  /// password is hashed, the second factors, and of a tenant's player the tenant, which Firebase's files have not.
  private static func rows(of text: String, name: String) throws -> [JSON] {
    guard let rows = LinkCSV.rows(text) else { throw CommandError("\(name): a quote is not closed.") }
    var users: [JSON] = []
    for (index, cells) in rows.enumerated() {
      guard cells.count >= 23, !cells[0].isEmpty else {
        throw CommandError("\(name): row \(index + 1) has \(cells.count) columns instead of 23 or more, or no uid.")
      }
      users.append(user(cells))
    }
    return users
  }

  private static func user(_ cells: [String]) -> JSON {
    func text(_ index: Int) -> JSON? { index < cells.count && !cells[index].isEmpty ? .string(cells[index]) : nil }
    var identities: [JSON] = []
    for (number, provider) in providers.enumerated() {
      let first = 7 + number * 4
      guard let rawID = text(first) else { continue }
      identities.append(
        object([
          ("providerId", .string(provider)), ("rawId", rawID), ("email", text(first + 1)), ("displayName", text(first + 2)),
          ("photoUrl", text(first + 3)),
        ]))
    }
    return object([
      ("localId", text(0)), ("email", text(1)), ("emailVerified", .bool(cells[2] == "true")), ("passwordHash", text(3)),
      ("salt", text(4)), ("displayName", text(5)), ("photoUrl", text(6)),
      ("providerUserInfo", identities.isEmpty ? nil : .array(identities)), ("createdAt", text(23)), ("lastLoginAt", text(24)),
      ("phoneNumber", text(25)), ("disabled", cells.count > 26 ? .bool(cells[26] == "true") : nil),
      ("customAttributes", text(27)), ("hashConfig", text(28)?.string.flatMap { try? JSONParser.parse($0) }),
      ("mfaInfo", text(29)?.string.flatMap { try? JSONParser.parse($0) }), ("tenantId", text(30)),
    ])
  }

  private static func line(_ user: JSON) -> String {
    func text(_ name: String) -> String { user[name]?.string ?? user[name]?.bool.map(String.init) ?? "" }
    func bytes(_ name: String) -> String { user[name].flatMap { AccountSplit.plainBase64($0).string } ?? "" }
    var cells = ["localId", "email", "emailVerified"].map(text) + ["passwordHash", "salt"].map(bytes)
    cells += ["displayName", "photoUrl"].map(text)
    let identities = user.listed("providerUserInfo")
    for provider in providers {
      let identity = identities.first { $0["providerId"]?.string == provider }
      cells += ["rawId", "email", "displayName", "photoUrl"].map { identity?[$0]?.string ?? "" }
    }
    cells += ["createdAt", "lastLoginAt", "phoneNumber", "disabled", "customAttributes"].map(text)
    cells += ["hashConfig", "mfaInfo"].map { user[$0]?.compactText ?? "" }
    if let tenant = user["tenantId"]?.string { cells.append(tenant) }
    return cells.map(quoted).joined(separator: ",")
  }

  private static func quoted(_ cell: String) -> String {
    guard cell.utf8.contains(where: { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }) else { return cell }
    return "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  private static func object(_ members: [(String, JSON?)]) -> JSON {
    .object(members.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } })
  }
}

/// An exported account in two parts: what "firebase auth:import" takes, which refuses a file for every member that it does not
/// know, and the rest, which stands beside the users.
struct AccountSplit {
  /// Members of an account that Firebase's importer takes, by their names here and in its files.
  private static let members = [
    ("localId", "localId"), ("email", "email"), ("emailVerified", "emailVerified"), ("passwordHash", "passwordHash"),
    ("salt", "salt"), ("displayName", "displayName"), ("photoUrl", "photoUrl"), ("createdAt", "createdAt"),
    ("lastLoginAt", "lastSignedInAt"), ("phoneNumber", "phoneNumber"), ("disabled", "disabled"),
    ("customAttributes", "customAttributes"),
  ]
  private static let identityMembers = ["providerId", "rawId", "email", "displayName", "photoUrl"]
  /// These two follow from the address and the number.
  private static let implied: Set<String> = ["password", "phone"]

  /// What Firebase's importer takes.
  let user: JSON
  /// What only this server's takes: an object.
  let rest: JSON

  /// - `known`: the providers that Firebase's files have.
  init(_ account: JSON, known: [String]) {
    var user: [JSON.Member] = []
    for (name, name2) in Self.members {
      guard let value = account[name] else { continue }
      user.append(JSON.Member(key: name2, value: ["passwordHash", "salt"].contains(name) ? Self.plainBase64(value) : value))
    }
    let identities = account.listed("providerUserInfo").filter { !Self.implied.contains($0["providerId"]?.string ?? "") }
    let (ours, theirs) = (
      identities.filter { !known.contains($0["providerId"]?.string ?? "") },
      identities.filter { known.contains($0["providerId"]?.string ?? "") }
    )
    if !theirs.isEmpty { user.append(JSON.Member(key: "providerUserInfo", value: .array(theirs.map(Self.identity)))) }
    let taken = Set(Self.members.map(\.0) + ["providerUserInfo"])
    var rest = (account.object ?? []).filter { !taken.contains($0.key) }
    if !ours.isEmpty { rest.append(JSON.Member(key: "providerUserInfo", value: .array(ours))) }
    self.user = .object(user)
    self.rest = .object(rest)
  }

  /// The account again, from both parts: what the first does not say the second does.
  static func joined(_ user: JSON, rest: JSON?) -> JSON {
    var members = (user.object ?? []).filter { $0.key != "providerUserInfo" }
    if user["lastLoginAt"] == nil, let last = user["lastSignedInAt"] {
      members.append(JSON.Member(key: "lastLoginAt", value: last))
    }
    for member in rest?.object ?? [] where user[member.key] == nil && member.key != "providerUserInfo" {
      members.append(member)
    }
    let identities = user.listed("providerUserInfo") + (rest?.listed("providerUserInfo") ?? [])
    if !identities.isEmpty { members.append(JSON.Member(key: "providerUserInfo", value: .array(identities))) }
    return .object(members)
  }

  /// Base64 in the alphabet that Firebase's importer takes.
  static func plainBase64(_ value: JSON) -> JSON {
    guard let text = value.string, let bytes = Base64.decode(text.utf8) else { return value }
    return .string(Base64.encode(bytes, as: .standard))
  }

  private static func identity(_ identity: JSON) -> JSON {
    .object(identityMembers.compactMap { name in identity[name].map { JSON.Member(key: name, value: $0) } })
  }
}
