import Accounts
import TreeModel

/// A tenant on the wire (https://cloud.google.com/identity-platform/docs/reference/rest/v2/projects.tenants).
enum TenantFields {
  private static let displayNameMax = 100
  /// The settings that there are; nothing lies below those.
  private static let leaves: [[String]] = [
    ["name"], ["tenantId"], ["displayName"], ["allowPasswordSignup"], ["enableEmailLinkSignin"], ["enableAnonymousUser"],
    ["disableAuth"], ["mfaConfig", "state"], ["mfaConfig", "enabledProviders"], ["mfaConfig", "providerConfigs"],
    ["emailPrivacyConfig", "enableImprovedEmailPrivacy"], ["client", "permissions", "disabledUserSignup"],
  ]
  private static let known = leaves + [["passwordPolicyConfig"]]

  /// The paths without those that lead into a setting that has nothing below it: emulators pass them over.
  static func meaningful(_ paths: [[String]]) -> [[String]] {
    paths.filter { path in !leaves.contains { path.count > $0.count && path.starts(with: $0) } }
  }

  /// Refuses a setting that there is not.
  static func check(_ body: JSON, named paths: [[String]]) throws {
    guard body.object != nil else { throw IdentityError.invalidArgument("The tenant must be a JSON object.") }
    for path in paths {
      let isKnown = known.contains { $0.starts(with: path) } || path.starts(with: ["passwordPolicyConfig"])
      guard isKnown else {
        throw IdentityError.invalidArgument(
          "updateMask names \(path.joined(separator: ".").prefix(100)), which is no setting of a tenant; nothing was changed.")
      }
    }
    try FieldMask.check(body, named: paths, known: known)
  }

  static func json(_ tenant: AccountTenant, of project: AccountProject) -> JSON {
    JSON(fields: [
      ("name", .string("projects/\(project.name)/tenants/\(tenant.id)")), ("tenantId", .string(tenant.id.text)),
      ("displayName", tenant.displayName.map(JSON.string)), ("allowPasswordSignup", .bool(tenant.allowsPasswords)),
      ("enableEmailLinkSignin", .bool(tenant.allowsEmailLinks)), ("enableAnonymousUser", .bool(tenant.allowsAnonymous)),
      ("disableAuth", .bool(tenant.isDisabled)), ("mfaConfig", json(tenant.secondFactors)),
      ("emailPrivacyConfig", tenant.hidesAddresses.map { ["enableImprovedEmailPrivacy": .bool($0)] }),
      ("client", tenant.allowsSignUp.map { ["permissions": ["disabledUserSignup": .bool(!$0)]] }),
      (
        "passwordPolicyConfig",
        tenant.passwordPolicy.map {
          ["passwordPolicyVersions": [["customStrengthOptions": ProjectConfiguration.options($0)]]]
        }
      ),
    ])
  }

  private static func json(_ factors: AccountTenant.SecondFactors) -> JSON {
    JSON(fields: [
      ("state", .string(factors.isEnabled ? "ENABLED" : "DISABLED")),
      ("enabledProviders", .array(factors.providers.map(JSON.string))),
      (
        "providerConfigs",
        factors.adjacentSteps.map { [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .int(Int64($0))]]] }
      ),
    ])
  }

  /// Sets what a body says: all of it without a mask, else what the mask names.
  static func apply(_ body: JSON, named paths: [[String]], to tenant: inout AccountTenant, of project: AccountProject) throws {
    let current = json(tenant, of: project)
    let fields = IdentityFields(FieldMask.applied(body, to: current, named: paths))
    let name = try fields.text("displayName")
    guard name?.count ?? 0 <= displayNameMax else {
      throw IdentityError("INVALID_DISPLAY_NAME", "((At most \(displayNameMax) characters.))")
    }
    tenant.displayName = name.flatMap { $0.isEmpty ? nil : $0 }
    tenant.allowsPasswords = try fields.bool("allowPasswordSignup") ?? false
    tenant.allowsEmailLinks = try fields.bool("enableEmailLinkSignin") ?? false
    tenant.allowsAnonymous = try fields.bool("enableAnonymousUser") ?? false
    tenant.isDisabled = try fields.bool("disableAuth") ?? false
    tenant.secondFactors = try secondFactors(try fields.object("mfaConfig"))
    tenant.hidesAddresses = try fields.object("emailPrivacyConfig")?.bool("enableImprovedEmailPrivacy")
    tenant.allowsSignUp = try fields.object("client")?.object("permissions")?.bool("disabledUserSignup").map { !$0 }
    tenant.passwordPolicy = fields["passwordPolicyConfig"]?["passwordPolicyVersions"]?.array?.last.map {
      ProjectConfiguration.passwordPolicy($0)
    }
  }

  private static func secondFactors(_ fields: IdentityFields?) throws -> AccountTenant.SecondFactors {
    var factors = AccountTenant.SecondFactors()
    guard let fields else { return factors }
    switch try fields.text("state") ?? "DISABLED" {
    case "ENABLED": factors.isEnabled = true
    case "DISABLED", "STATE_UNSPECIFIED": break
    default:
      throw IdentityError.notImplemented(
        "mfaConfig.state must be ENABLED or DISABLED: nobody is made to enrol a second factor here. Nothing was changed.")
    }
    factors.providers = try fields.texts("enabledProviders") ?? []
    guard factors.providers.count <= 10, factors.providers.allSatisfy(["PHONE_SMS", "PROVIDER_UNSPECIFIED"].contains) else {
      throw IdentityError.invalidArgument("mfaConfig.enabledProviders may name PHONE_SMS only.")
    }
    for config in try fields.list("providerConfigs") ?? [] where config["state"]?.string != "DISABLED" {
      guard let own = config["totpProviderConfig"] else {
        throw IdentityError.invalidArgument("mfaConfig.providerConfigs may hold a totpProviderConfig only.")
      }
      let steps = own["adjacentIntervals"]?.int ?? Int64(SecondFactorPolicy.adjacentDefault)
      factors.adjacentSteps = Int(min(max(steps, 0), 10))
    }
    return factors
  }
}
