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
    ["blockingFunctions", "triggers", "beforeSignIn"], ["blockingFunctions", "forwardInboundCredentials", "idToken"],
    ["blockingFunctions", "forwardInboundCredentials", "accessToken"], ["multiTenant", "allowTenants"],
  ]

  // MARK: Reading

  /// The configuration as administrators read it (`/v2/projects/{p}/config`).
  static func show(_ accounts: AccountService, of project: AccountProject) throws -> JSON {
    let own: [JSON.Member] = [JSON.Member(key: "name", value: .string("projects/\(project.number)/config"))]
    var settings = try accounts.settings(of: project)
    settings.secondFactors = try accounts.secondFactors.policy(of: project)
    return .object(own + (json(settings, followsEmulator: accounts.options.followsEmulator).object ?? []))
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
  /// - `mask`: `updateMask`.
  /// - `merges`: whether what the body does not say stays, whatever the mask (emulators' own address).
  static func change(_ accounts: AccountService, _ call: IdentityCall, mask: String?, merges: Bool) async throws {
    let body = call.fields.json.withoutNulls
    let paths = try FieldMask.paths(mask)
    guard body.object != nil else { throw IdentityError.invalidArgument("The configuration must be a JSON object.") }
    try FieldMask.check(body, named: merges ? [] : paths, known: known) { unknown in
      unknown.first == "blockingFunctions" ? BlockingFunctionFields.unknown(unknown) : FieldMask.notSupported(unknown)
    }
    try BlockingFunctionFields.check(body, inDevelopment: accounts.options.isDevelopment)
    try await accounts.changeSettings(of: call.project, by: call.actor) { settings in
      let current = json(settings)
      if merges { return read(current.merging(body)) }
      return read(FieldMask.applied(body, to: current, named: paths))
    }
  }

  // MARK: Settings on the wire

  /// - `followsEmulator`: whether ways to sign in are named only where they are switched off; what is missing is on.
  private static func json(_ settings: AccountSettings, followsEmulator: Bool = false) -> JSON {
    func way(_ isAllowed: Bool) -> JSON? {
      guard isAllowed, followsEmulator else { return ["enabled": .bool(isAllowed)] }
      return JSON?.none
    }
    return JSON(fields: [
      (
        "signIn",
        JSON(fields: [
          ("allowDuplicateEmails", .bool(settings.allowsDuplicateEmails)), ("anonymous", way(settings.allowsAnonymous)),
          ("email", way(settings.allowsPasswords)),
        ])
      ), ("emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)]),
      ("client", ["permissions": ["disabledUserSignup": .bool(!settings.allowsSignUp)]]),
      (
        "passwordPolicyConfig",
        ["passwordPolicyVersions": [["customStrengthOptions": options(settings.passwordPolicy)]]]
      ), ("mfa", settings.secondFactors.map(json)),
      ("blockingFunctions", BlockingFunctionFields.json(settings)),
      ("multiTenant", ["allowTenants": .bool(settings.allowsTenants)]),
    ])
  }

  static func options(_ policy: PasswordPolicy) -> JSON {
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
    settings.forwardedCredentials = BlockingFunctionFields.forwarded(json)
    settings.allowsTenants = json["multiTenant"]?["allowTenants"]?.bool ?? false
    return settings
  }

  static func passwordPolicy(_ version: JSON?) -> PasswordPolicy {
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
