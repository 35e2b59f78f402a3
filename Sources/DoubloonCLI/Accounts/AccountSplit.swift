import StorageCore
import TreeModel

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

  /// - Parameter known: the providers that Firebase's files have.
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
  static func joined(_ user: JSON, _ rest: JSON?) -> JSON {
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
