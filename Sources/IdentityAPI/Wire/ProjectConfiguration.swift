import Accounts
import TreeModel

/// The project configuration of Identity Toolkit v2
/// (https://cloud.google.com/identity-platform/docs/reference/rest/v2/Config), as far as there are such settings here.
enum ProjectConfiguration {
  /// The settings that there are, with all below them.
  private static let known: [[String]] = [
    // Which configuration it is: a client that sends back what it read sends it too.
    ["name"], ["signIn", "allowDuplicateEmails"], ["signIn", "anonymous", "enabled"], ["signIn", "email", "enabled"],
    ["emailPrivacyConfig", "enableImprovedEmailPrivacy"], ["client", "permissions", "disabledUserSignup"],
    ["passwordPolicyConfig"], ["mfa"], ["blockingFunctions", "triggers", "beforeCreate"],
    ["blockingFunctions", "triggers", "beforeSignIn"],
  ]

  // MARK: Reading

  /// The configuration as administrators read it (`/v2/projects/{p}/config`).
  static func show(_ accounts: AccountService, of project: AccountProject) throws -> JSON {
    let own: [JSON.Member] = [JSON.Member(key: "name", value: .string("projects/\(project.number)/config"))]
    var settings = try accounts.settings(of: project)
    settings.secondFactors = try accounts.secondFactors.policy(of: project)
    return .object(own + (json(settings).object ?? []))
  }

  /// The two settings that emulators know (`/emulator/v1/projects/{p}/config`).
  static func showForEmulator(_ accounts: AccountService, of project: AccountProject) throws -> JSON {
    let settings = try accounts.settings(of: project)
    return [
      "signIn": ["allowDuplicateEmails": .bool(settings.allowsDuplicateEmails)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)],
    ]
  }

  /// The password policy as clients read it (`/v2/passwordPolicy`).
  static func passwordPolicy(_ accounts: AccountService, of project: AccountProject) throws -> JSON {
    [
      "schemaVersion": 1, "customStrengthOptions": options(try accounts.settings(of: project).passwordPolicy),
      "enforcementState": "ENFORCE", "forceUpgradeOnSignin": false,
      "allowedNonAlphanumericCharacters": .array(
        "^$*.[]{}()?\"!@#%&/\\,><':;|_~".map { .string(String($0)) }),
    ]
  }

  /// `GET /v1/projects`: what clients are told of their project.
  static func forClients(_ accounts: AccountService, of project: AccountProject) -> JSON {
    let local = accounts.options.isDevelopment ? ["localhost", "127.0.0.1"] : []
    let domains = local + accounts.options.authorizedDomains.subtracting(local).sorted()
    return ["projectId": .string(project.number), "authorizedDomains": .array(domains.map(JSON.string))]
  }

  // MARK: Changing

  /// Changes the configuration: an empty mask replaces it, otherwise what the mask names is taken from the body.
  ///
  /// - `merges`: whether what the body does not say stays, whatever the mask (emulators' own address).
  static func change(_ accounts: AccountService, _ call: IdentityCall, mask: [String], merges: Bool) async throws {
    let body = call.fields.json.withoutNulls
    guard body.object != nil else { throw IdentityError.invalidArgument("The configuration must be a JSON object.") }
    // The deepest setting lies four levels down.
    guard mask.allSatisfy({ $0.utf8.count <= 200 && $0.split(separator: ".").count <= 8 }) else {
      throw IdentityError.invalidArgument("A field path of updateMask is too long.")
    }
    let paths = mask.map { $0.split(separator: ".").map(camel) }
    try checkSupported(body, named: merges ? [] : paths)
    try BlockingFunctionFields.check(body, inDevelopment: accounts.options.isDevelopment)
    try await accounts.changeSettings(of: call.project, by: call.actor) { settings in
      let current = json(settings)
      if merges { return read(current.merging(body)) }
      guard !mask.isEmpty else { return read(body) }
      return read(paths.reduce(current) { $0.setting($1[...], to: body.at($1[...])) })
    }
  }

  /// Refuses what would be answered with 200 and then not be so.
  ///
  /// - `paths`: what of the body is meant; all of it if there are none.
  private static func checkSupported(_ body: JSON, named paths: [[String]]) throws {
    let parts = paths.isEmpty ? [([], body)] : paths.compactMap { path in body.at(path[...]).map { (path, $0) } }
    for (path, value) in parts {
      guard let unknown = value.firstSetting(below: path, except: known) else { continue }
      guard unknown.first != "blockingFunctions" else { throw BlockingFunctionFields.unknown(unknown) }
      throw IdentityError.notImplemented(
        "The setting \(unknown.joined(separator: ".").prefix(100)) is not supported; nothing was changed. Leave it out.")
    }
  }

  private static func camel(_ name: Substring) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  // MARK: Settings on the wire

  private static func json(_ settings: AccountSettings) -> JSON {
    JSON(fields: [
      (
        "signIn",
        [
          "allowDuplicateEmails": .bool(settings.allowsDuplicateEmails),
          "anonymous": ["enabled": .bool(settings.allowsAnonymous)], "email": ["enabled": .bool(settings.allowsPasswords)],
        ]
      ), ("emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)]),
      ("client", ["permissions": ["disabledUserSignup": .bool(!settings.allowsSignUp)]]),
      (
        "passwordPolicyConfig",
        ["passwordPolicyVersions": [["customStrengthOptions": options(settings.passwordPolicy)]]]
      ), ("mfa", settings.secondFactors.map(json)),
      ("blockingFunctions", BlockingFunctionFields.json(settings.decisionTargets)),
    ])
  }

  private static func options(_ policy: PasswordPolicy) -> JSON {
    [
      "minPasswordLength": .int(Int64(policy.minLength)), "maxPasswordLength": .int(Int64(policy.maxLength)),
      "containsLowercaseCharacter": .bool(policy.needsLowerCase),
      "containsUppercaseCharacter": .bool(policy.needsUpperCase), "containsNumericCharacter": .bool(policy.needsDigit),
      "containsNonAlphanumericCharacter": .bool(policy.needsSymbol),
    ]
  }

  private static func json(_ policy: SecondFactorPolicy) -> JSON {
    JSON(fields: [
      ("state", .string(policy.allowsPhone || policy.adjacentSteps != nil ? "ENABLED" : "DISABLED")),
      ("enabledProviders", policy.allowsPhone ? ["PHONE_SMS"] : nil),
      (
        "providerConfigs",
        policy.adjacentSteps.map { [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .int(Int64($0))]]] }
      ),
    ])
  }

  /// What is missing has its default.
  private static func read(_ json: JSON) -> AccountSettings {
    var settings = AccountSettings()
    settings.allowsDuplicateEmails = json["signIn"]?["allowDuplicateEmails"]?.bool ?? false
    settings.hidesAddresses = json["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
    settings.allowsAnonymous = json["signIn"]?["anonymous"]?["enabled"]?.bool ?? true
    settings.allowsPasswords = json["signIn"]?["email"]?["enabled"]?.bool ?? true
    settings.allowsSignUp = !(json["client"]?["permissions"]?["disabledUserSignup"]?.bool ?? false)
    settings.passwordPolicy = passwordPolicy(json["passwordPolicyConfig"]?["passwordPolicyVersions"]?.array?.last)
    settings.secondFactors = json["mfa"].flatMap(secondFactors)
    settings.decisionTargets = BlockingFunctionFields.targets(json)
    return settings
  }

  private static func passwordPolicy(_ version: JSON?) -> PasswordPolicy {
    let options = version?["customStrengthOptions"] ?? .null
    var policy = PasswordPolicy()
    policy.setLengths(min: options["minPasswordLength"]?.int, max: options["maxPasswordLength"]?.int)
    policy.needsLowerCase = options["containsLowercaseCharacter"]?.bool ?? false
    policy.needsUpperCase = options["containsUppercaseCharacter"]?.bool ?? false
    policy.needsDigit = options["containsNumericCharacter"]?.bool ?? false
    policy.needsSymbol = options["containsNonAlphanumericCharacter"]?.bool ?? false
    return policy
  }

  /// The policy of second factors; nil if nothing is said of it.
  private static func secondFactors(_ json: JSON) -> SecondFactorPolicy? {
    guard ["state", "enabledProviders", "providerConfigs"].contains(where: { json[$0] != nil }) else { return nil }
    var policy = SecondFactorPolicy.none
    guard json["state"]?.string != "DISABLED" else { return policy }
    policy.allowsPhone = json["enabledProviders"]?.array?.contains { $0.string == "PHONE_SMS" } ?? false
    for config in json["providerConfigs"]?.array ?? [] where config["state"]?.string != "DISABLED" {
      guard let own = config["totpProviderConfig"] else { continue }
      policy.adjacentSteps = own["adjacentIntervals"]?.int.map { Int($0) } ?? SecondFactorPolicy.adjacentDefault
    }
    return policy
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
