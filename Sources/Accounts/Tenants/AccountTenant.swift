import TreeModel

/// A tenant of a project, as its administrators set it up. What it leaves open is as the project's settings say.
package struct AccountTenant: Sendable, Hashable {
  /// Which second factors its players may enrol.
  package struct SecondFactors: Sendable, Hashable {
    package var isEnabled = false
    /// As they were given: `PHONE_SMS`.
    package var providers: [String] = []
    /// By how many steps an authenticator's clock may be wrong; nil where authenticators are not allowed.
    package var adjacentSteps: Int?

    package init() {}

    var policy: SecondFactorPolicy {
      guard isEnabled else { return .none }
      return SecondFactorPolicy(allowsPhone: providers.contains("PHONE_SMS"), adjacentSteps: adjacentSteps)
    }
  }

  package let id: TenantID
  package var displayName: String?
  /// Whether its accounts may have passwords, and sign in by them.
  package var allowsPasswords = false
  /// Whether its players may sign in by a link in a mail.
  package var allowsEmailLinks = false
  /// Whether its accounts may begin anonymous.
  package var allowsAnonymous = false
  /// Whether nobody can sign in, and nothing can be done with its accounts.
  package var isDisabled = false
  package var secondFactors = SecondFactors()
  /// What a new password must be like; nil for what the project asks.
  package var passwordPolicy: PasswordPolicy?
  /// Whether it is kept secret which addresses have accounts; nil for as the project does.
  package var hidesAddresses: Bool?
  /// Whether its players may make accounts; nil for as the project does.
  package var allowsSignUp: Bool?
  /// Whether it is being deleted: its accounts go, and nobody new comes.
  var isLeaving = false

  /// A tenant without anything that has to be switched on.
  package init(_ id: TenantID) {
    self.id = id
  }

  /// A tenant that development makes when it is named: everything is switched on.
  static func inDevelopment(_ id: TenantID) -> AccountTenant {
    var tenant = AccountTenant(id)
    tenant.allowsPasswords = true
    tenant.allowsEmailLinks = true
    tenant.allowsAnonymous = true
    tenant.secondFactors.isEnabled = true
    tenant.secondFactors.providers = ["PHONE_SMS"]
    return tenant
  }

  /// The settings that hold for its players.
  func settings(within project: AccountSettings) -> AccountSettings {
    var settings = project
    settings.allowsPasswords = allowsPasswords
    settings.allowsEmailLinks = allowsEmailLinks
    settings.allowsAnonymous = allowsAnonymous
    settings.allowsSignUp = allowsSignUp ?? project.allowsSignUp
    settings.hidesAddresses = hidesAddresses ?? project.hidesAddresses
    settings.passwordPolicy = passwordPolicy ?? project.passwordPolicy
    settings.secondFactors = secondFactors.policy
    return settings
  }
}

// MARK: - Storage

/// The stored form: a JSON object, so that what comes later needs no new column.
extension AccountTenant {
  /// Of which kind the records are.
  static let kind = "account-tenant"

  init?(_ id: TenantID, stored text: String) {
    guard let json = try? JSONParser.parse(text), json.object != nil else { return nil }
    self.init(id)
    displayName = json["displayName"]?.string
    allowsPasswords = json["passwords"]?.bool ?? false
    allowsEmailLinks = json["emailLinks"]?.bool ?? false
    allowsAnonymous = json["anonymous"]?.bool ?? false
    isDisabled = json["disabled"]?.bool ?? false
    hidesAddresses = json["hidesAddresses"]?.bool
    allowsSignUp = json["signUp"]?.bool
    isLeaving = json["leaving"]?.bool ?? false
    passwordPolicy = json["passwordPolicy"].map { AccountSettingsCodec.passwordPolicy($0) }
    secondFactors.isEnabled = json["secondFactors"]?["enabled"]?.bool ?? false
    secondFactors.providers = (json["secondFactors"]?["providers"]?.array ?? []).compactMap(\.string)
    secondFactors.adjacentSteps = json["secondFactors"]?["adjacentSteps"]?.int.flatMap { Int(exactly: $0) }
  }

  var storedText: String {
    JSON(fields: [
      ("displayName", displayName.map(JSON.string)), ("passwords", .bool(allowsPasswords)),
      ("emailLinks", .bool(allowsEmailLinks)), ("anonymous", .bool(allowsAnonymous)), ("disabled", .bool(isDisabled)),
      ("hidesAddresses", hidesAddresses.map(JSON.bool)), ("signUp", allowsSignUp.map(JSON.bool)),
      ("leaving", isLeaving ? true : nil), ("passwordPolicy", passwordPolicy.map { AccountSettingsCodec.version($0) }),
      (
        "secondFactors",
        JSON(fields: [
          ("enabled", .bool(secondFactors.isEnabled)), ("providers", .array(secondFactors.providers.map(JSON.string))),
          ("adjacentSteps", secondFactors.adjacentSteps.map { .int(Int64($0)) }),
        ])
      ),
    ]).compactText
  }
}
