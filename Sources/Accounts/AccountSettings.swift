import TreeModel

/// What a project's administrators can set about its accounts, stored with them.
package struct AccountSettings: Sendable, Hashable {
  /// Whether two accounts may have one address.
  package var allowsDuplicateEmails = false
  /// Whether it is kept secret which addresses have accounts.
  package var hidesAddresses = false
  /// Whether accounts may begin anonymous.
  package var allowsAnonymous = true
  /// Whether accounts may have passwords, and sign in by them.
  package var allowsPasswords = true
  /// Whether players may sign in by a link in a mail; a tenant says so, a project always lets them.
  package var allowsEmailLinks = true
  /// Whether the project has tenants.
  package var allowsTenants = false
  /// Whether end users may make accounts at all.
  package var allowsSignUp = true
  /// What a new password must be like.
  package var passwordPolicy = PasswordPolicy()
  /// Which second factors players may enrol; nil for what the mode begins with.
  package var secondFactors: SecondFactorPolicy?
  /// Addresses that are asked before an account is made or a session begins, by the occasion.
  package var decisionTargets: [SignInOccasion: String] = [:]
  /// What those addresses get of a player's credentials at an identity provider.
  package var forwardedCredentials = ForwardedCredentials()

  package init() {}
}

/// Which credentials of an identity provider the deployment's addresses get when they are asked about a sign-in. None, unless
/// it is said: with them a function can do what the player can do there.
package struct ForwardedCredentials: Sendable, Hashable {
  /// The provider's ID token.
  package var idToken = false
  /// The provider's access token.
  package var accessToken = false

  package init() {}
}

/// What a password must be like when it is set.
package struct PasswordPolicy: Sendable, Hashable {
  /// What a password lacks.
  package enum Requirement: Sendable, Hashable {
    case atLeast(Int)
    case atMost(Int)
    case lowerCase
    case upperCase
    case digit
    case symbol
  }

  /// No policy allows a shorter one, as Firebase does not.
  package static let lengthMin = 6
  /// No policy allows a longer one: hashing must not be made expensive from outside.
  package static let lengthMax = 4096

  /// The shortest password, in UTF-16 code units.
  package var minLength = PasswordPolicy.lengthMin
  /// The longest password, in UTF-16 code units.
  package var maxLength = PasswordPolicy.lengthMax
  /// Whether a lower case letter is needed.
  package var needsLowerCase = false
  /// Whether an upper case letter is needed.
  package var needsUpperCase = false
  /// Whether a digit is needed.
  package var needsDigit = false
  /// Whether something is needed that is neither a letter nor a digit.
  package var needsSymbol = false

  package init() {}

  /// Sets the lengths, brought into the bounds that every policy has.
  package mutating func setLengths(min: Int64?, max: Int64?) {
    func bounded(_ length: Int64) -> Int { Int(Swift.min(Swift.max(length, Int64(Self.lengthMin)), Int64(Self.lengthMax))) }
    minLength = min.map(bounded) ?? Self.lengthMin
    maxLength = Swift.max(minLength, max.map(bounded) ?? Self.lengthMax)
  }

  /// Refuses a password that is too weak.
  ///
  /// - Throws: `AccountError/passwordTooShort`, `AccountError/unmetPasswordRequirements(_:)`
  package func check(_ password: String) throws {
    let length = password.utf16.count
    guard length >= Self.lengthMin else { throw AccountError.passwordTooShort }
    var unmet: [Requirement] = []
    if length < minLength { unmet.append(.atLeast(minLength)) }
    if length > maxLength { unmet.append(.atMost(maxLength)) }
    let scalars = password.unicodeScalars
    if needsLowerCase, !scalars.contains(where: \.properties.isLowercase) { unmet.append(.lowerCase) }
    if needsUpperCase, !scalars.contains(where: \.properties.isUppercase) { unmet.append(.upperCase) }
    if needsDigit, !scalars.contains(where: { ("0"..."9").contains($0) }) { unmet.append(.digit) }
    if needsSymbol, !scalars.contains(where: { !$0.properties.isAlphabetic && !("0"..."9").contains($0) }) {
      unmet.append(.symbol)
    }
    guard unmet.isEmpty else { throw AccountError.unmetPasswordRequirements(unmet) }
  }
}

/// Which second factors players may enrol. A factor that is enrolled is asked for whatever this says: no setting makes an
/// account less safe.
package struct SecondFactorPolicy: Sendable, Hashable {
  /// By how many steps of thirty seconds an authenticator's clock may be wrong, unless it is said.
  package static let adjacentDefault = 5
  private static let adjacentMax = 10

  /// Whether codes may go to telephones.
  package var allowsPhone: Bool
  /// By how many steps an authenticator's clock may be wrong, 0 to 10; nil where authenticators are not allowed.
  package var adjacentSteps: Int? {
    didSet { adjacentSteps = Self.bounded(adjacentSteps) }
  }

  /// None: what Firebase begins with.
  package static let none = SecondFactorPolicy(allowsPhone: false, adjacentSteps: nil)
  /// All: what development begins with.
  package static let all = SecondFactorPolicy(allowsPhone: true, adjacentSteps: adjacentDefault)

  package init(allowsPhone: Bool, adjacentSteps: Int?) {
    self.allowsPhone = allowsPhone
    self.adjacentSteps = Self.bounded(adjacentSteps)
  }

  private static func bounded(_ steps: Int?) -> Int? { steps.map { min(max($0, 0), adjacentMax) } }
}

// MARK: - Storage

/// The form in which settings are stored: one JSON object, whose members have kept their names since the first version.
///
/// It happens to be what the Identity Toolkit shows too, but only this one has to stay as it is for the stores there are.
enum AccountSettingsCodec {
  static func decode(_ json: JSON) -> AccountSettings {
    var settings = AccountSettings()
    settings.allowsDuplicateEmails = json["signIn"]?["allowDuplicateEmails"]?.bool ?? false
    settings.hidesAddresses = json["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
    settings.allowsAnonymous = json["signIn"]?["anonymous"]?["enabled"]?.bool ?? true
    settings.allowsPasswords = json["signIn"]?["email"]?["enabled"]?.bool ?? true
    settings.allowsTenants = json["multiTenant"]?["allowTenants"]?.bool ?? false
    settings.allowsSignUp = !(json["client"]?["permissions"]?["disabledUserSignup"]?.bool ?? false)
    settings.passwordPolicy = passwordPolicy(json["passwordPolicyConfig"]?["passwordPolicyVersions"]?.array?.last)
    settings.secondFactors = json["mfa"].map(secondFactors)
    for occasion in SignInOccasion.allCases {
      settings.decisionTargets[occasion] = json["blockingFunctions"]?["triggers"]?[occasion.rawValue]?["functionUri"]?.string
    }
    let forwarded = json["blockingFunctions"]?["forwardInboundCredentials"]
    settings.forwardedCredentials.idToken = forwarded?["idToken"]?.bool ?? false
    settings.forwardedCredentials.accessToken = forwarded?["accessToken"]?.bool ?? false
    return settings
  }

  static func encode(_ settings: AccountSettings) -> JSON {
    JSON(fields: [
      (
        "signIn",
        [
          "allowDuplicateEmails": .bool(settings.allowsDuplicateEmails),
          "anonymous": ["enabled": .bool(settings.allowsAnonymous)], "email": ["enabled": .bool(settings.allowsPasswords)],
        ]
      ), ("emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(settings.hidesAddresses)]),
      ("client", ["permissions": ["disabledUserSignup": .bool(!settings.allowsSignUp)]]),
      ("passwordPolicyConfig", encode(settings.passwordPolicy)), ("mfa", settings.secondFactors.map(encode)),
      ("blockingFunctions", encode(settings.decisionTargets, settings.forwardedCredentials)),
      ("multiTenant", settings.allowsTenants ? ["allowTenants": true] : nil),
    ])
  }

  private static func encode(_ targets: [SignInOccasion: String], _ forwarded: ForwardedCredentials) -> JSON? {
    let isForwarding = forwarded != ForwardedCredentials()
    guard !targets.isEmpty || isForwarding else { return nil }
    let triggers = JSON(
      fields: SignInOccasion.allCases.map { occasion in
        (occasion.rawValue, targets[occasion].map { ["functionUri": .string($0)] })
      })
    let credentials = JSON(fields: [
      ("idToken", .bool(forwarded.idToken)), ("accessToken", .bool(forwarded.accessToken)),
    ])
    return JSON(fields: [("triggers", triggers), ("forwardInboundCredentials", isForwarding ? credentials : JSON?.none)])
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

  private static func encode(_ policy: PasswordPolicy) -> JSON { ["passwordPolicyVersions": [version(policy)]] }

  static func version(_ policy: PasswordPolicy) -> JSON {
    let options: JSON = [
      "minPasswordLength": .int(Int64(policy.minLength)), "maxPasswordLength": .int(Int64(policy.maxLength)),
      "containsLowercaseCharacter": .bool(policy.needsLowerCase),
      "containsUppercaseCharacter": .bool(policy.needsUpperCase), "containsNumericCharacter": .bool(policy.needsDigit),
      "containsNonAlphanumericCharacter": .bool(policy.needsSymbol),
    ]
    return ["customStrengthOptions": options]
  }

  private static func secondFactors(_ json: JSON) -> SecondFactorPolicy {
    var policy = SecondFactorPolicy.none
    policy.allowsPhone = json["enabledProviders"]?.array?.contains { $0.string == "PHONE_SMS" } ?? false
    if let config = json["providerConfigs"]?.array?.first?["totpProviderConfig"] {
      policy.adjacentSteps = config["adjacentIntervals"]?.int.map { Int($0) } ?? SecondFactorPolicy.adjacentDefault
    }
    return policy
  }

  private static func encode(_ policy: SecondFactorPolicy) -> JSON {
    JSON(fields: [
      ("state", .string(policy.allowsPhone || policy.adjacentSteps != nil ? "ENABLED" : "DISABLED")),
      ("enabledProviders", policy.allowsPhone ? ["PHONE_SMS"] : nil),
      (
        "providerConfigs",
        policy.adjacentSteps.map { [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .int(Int64($0))]]] }
      ),
    ])
  }
}
