import Credentials
import StorageCore
package import TreeModel

/// What administrators set about a project's accounts: the project configuration of Identity Toolkit v2.
extension AccountService {
  /// The configuration as administrators read it (`/v2/projects/{p}/config`).
  package func configuration(of project: AccountProject) throws(AccountError) -> JSON {
    let own: [JSON.Member] = [JSON.Member(key: "name", value: .string("projects/\(project.number)/config"))]
    var settings = try settings(of: project)
    settings.secondFactors = try secondFactorPolicy(of: project)
    return .object(own + (settings.json.object ?? []))
  }

  /// The two settings that emulators know (`/emulator/v1/projects/{p}/config`).
  package func emulatorConfiguration(of project: AccountProject) throws(AccountError) -> JSON {
    let settings = try settings(of: project)
    return [
      "signIn": ["allowDuplicateEmails": .bool(settings.allowsDuplicateEmails)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)],
    ]
  }

  /// Changes the configuration: an empty mask replaces it, otherwise what the mask names is taken from the body.
  ///
  /// - `merges`: whether what the body does not say stays, whatever the mask (emulators' own address).
  package func configure(_ call: IdentityCall, mask: [String], merges: Bool) async throws(AccountError) {
    let body = call.fields.json.withoutNulls
    guard body.object != nil else { throw .invalidArgument("The configuration must be a JSON object.") }
    // The deepest setting lies four levels down.
    guard mask.allSatisfy({ $0.utf8.count <= 200 && $0.split(separator: ".").count <= 8 }) else {
      throw .invalidArgument("A field path of updateMask is too long.")
    }
    let paths = mask.map { $0.split(separator: ".").map(Self.camel) }
    try Self.checkSupported(body, named: merges ? [] : paths)
    try await change(call.project, by: call.actor) { (bench) throws(AccountError) in
      let current = try bench.settings.json
      var next: JSON = .object([])
      if merges || !mask.isEmpty { next = current }
      if merges {
        next = next.merging(body)
      } else if mask.isEmpty {
        next = body
      } else {
        for keys in paths { next = next.setting(keys[...], to: body.at(keys[...])) }
      }
      bench.put(.settings(AccountSettings(next).json))
    }
  }

  /// Refuses what would be answered with 200 and then not be so.
  ///
  /// - `paths`: what of the body is meant; all of it if there are none.
  private static func checkSupported(_ body: JSON, named paths: [[String]]) throws(AccountError) {
    let parts = paths.isEmpty ? [([], body)] : paths.compactMap { path in body.at(path[...]).map { (path, $0) } }
    for (path, value) in parts {
      guard let unknown = value.firstSetting(below: path, except: known) else { continue }
      guard unknown.first != "blockingFunctions" else {
        throw AccountError(
          "INVALID_BLOCKING_FUNCTION",
          "Blocking functions are not supported: nothing would call them. Functions of this server see accounts when they are made."
        )
      }
      throw .notImplemented(
        "The setting \(unknown.joined(separator: ".").prefix(100)) is not supported; nothing was changed. Leave it out.")
    }
  }

  /// The settings that there are, with all below them.
  private static let known: [[String]] = [
    // Which configuration it is: who sends back what was read sends it too.
    ["name"], ["signIn", "allowDuplicateEmails"], ["signIn", "anonymous", "enabled"], ["signIn", "email", "enabled"],
    ["emailPrivacyConfig", "enableImprovedEmailPrivacy"], ["client", "permissions", "disabledUserSignup"],
    ["passwordPolicyConfig"], ["mfa"],
  ]

  private static func camel(_ name: Substring) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  /// The password policy as clients read it (`/v2/passwordPolicy`).
  package func passwordPolicy(of project: AccountProject) throws(AccountError) -> JSON {
    try settings(of: project).passwordPolicy.clientJSON
  }

  /// `GET /v1/projects`: what clients are told of their project.
  package func clientConfiguration(of project: AccountProject) -> JSON {
    let local = options.isDevelopment ? ["localhost", "127.0.0.1"] : []
    let domains = local + options.authorizedDomains.subtracting(local).sorted()
    return ["projectId": .string(project.number), "authorizedDomains": .array(domains.map(JSON.string))]
  }
}

extension JSON {
  /// The value without the members of objects that are null.
  fileprivate var withoutNulls: JSON {
    switch self {
    case .object(let members):
      .object(members.filter { !$0.value.isNull }.map { Member(key: $0.key, value: $0.value.withoutNulls) })
    case .array(let elements): .array(elements.map(\.withoutNulls))
    default: self
    }
  }

  /// The way to the first value that says something: not false, not empty; nil if there is none but the known ones.
  fileprivate func firstSetting(below path: [String], except known: [[String]]) -> [String]? {
    if known.contains(where: { path.starts(with: $0) }) { return nil }
    switch self {
    case .object(let members):
      return members.lazy.compactMap { $0.value.firstSetting(below: path + [$0.key], except: known) }.first
    case .array(let elements): return elements.isEmpty ? nil : path
    case .null, .bool(false), .string(""): return nil
    default: return path
    }
  }

  /// This object with the members of another in the place of its own, at every depth.
  fileprivate func merging(_ other: JSON) -> JSON {
    guard var members = object, let others = other.object else { return other }
    for member in others {
      if let index = members.firstIndex(where: { $0.key == member.key }) {
        members[index] = Member(key: member.key, value: members[index].value.merging(member.value))
      } else {
        members.append(member)
      }
    }
    return .object(members)
  }

  fileprivate func at(_ keys: ArraySlice<String>) -> JSON? {
    guard let first = keys.first else { return self }
    return self[first]?.at(keys.dropFirst())
  }

  fileprivate func setting(_ keys: ArraySlice<String>, to value: JSON?) -> JSON {
    guard let first = keys.first else { return value ?? .null }
    var members = (object ?? []).filter { $0.key != first }
    if keys.count > 1 || value != nil {
      members.append(Member(key: first, value: (self[first] ?? .object([])).setting(keys.dropFirst(), to: value)))
    }
    return .object(members)
  }
}
