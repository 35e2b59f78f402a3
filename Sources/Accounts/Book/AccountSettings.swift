import StorageCore
package import TreeModel

/// What a project's administrators can set about its accounts, kept with them.
package struct AccountSettings: Sendable, Hashable {
  /// Whether two accounts may have one address.
  package var allowsDuplicateEmails = false
  /// Whether it is kept secret which addresses have accounts.
  package var hidesAddresses = false
  /// Whether accounts may begin anonymous.
  package var allowsAnonymous = true
  /// Whether accounts may have passwords, and sign in by them.
  package var allowsPasswords = true
  /// Whether end users may make accounts at all.
  package var allowsSignUp = true
  /// What a new password must be like.
  package var passwordPolicy = PasswordPolicy()

  /// Which second factors players may enrol; nil for what the mode begins with.
  package var secondFactors: SecondFactorPolicy?

  package init() {}

  /// Reads what ``json`` wrote; what is missing has its default.
  package init(_ json: JSON) {
    allowsDuplicateEmails = json["signIn"]?["allowDuplicateEmails"]?.bool ?? false
    hidesAddresses = json["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
    allowsAnonymous = json["signIn"]?["anonymous"]?["enabled"]?.bool ?? true
    allowsPasswords = json["signIn"]?["email"]?["enabled"]?.bool ?? true
    allowsSignUp = !(json["client"]?["permissions"]?["disabledUserSignup"]?.bool ?? false)
    passwordPolicy = PasswordPolicy(json["passwordPolicyConfig"] ?? .null)
    secondFactors = SecondFactorPolicy(json["mfa"])
  }

  /// The settings as the protocol shows them.
  package var json: JSON {
    JSON(fields: [
      (
        "signIn",
        [
          "allowDuplicateEmails": .bool(allowsDuplicateEmails), "anonymous": ["enabled": .bool(allowsAnonymous)],
          "email": ["enabled": .bool(allowsPasswords)],
        ]
      ), ("emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(hidesAddresses)]),
      ("client", ["permissions": ["disabledUserSignup": .bool(!allowsSignUp)]]),
      ("passwordPolicyConfig", passwordPolicy.json), ("mfa", secondFactors?.json),
    ])
  }
}

/// What a password must be like when it is set.
package struct PasswordPolicy: Sendable, Hashable {
  /// A shorter one is refused in any case (spec: auth-protocol §2.1).
  package static let lengthMin = 6
  /// A longer one is refused: hashing must not be made expensive from outside.
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
  /// Whether something is needed that is no letter and no digit.
  package var needsSymbol = false

  package init() {}

  init(_ json: JSON) {
    let options = json["passwordPolicyVersions"]?.array?.last?["customStrengthOptions"] ?? .null
    func length(_ name: String, _ fallback: Int) -> Int {
      options[name]?.int.map { Int(min(max($0, Int64(Self.lengthMin)), Int64(Self.lengthMax))) } ?? fallback
    }
    minLength = length("minPasswordLength", Self.lengthMin)
    maxLength = max(minLength, length("maxPasswordLength", Self.lengthMax))
    needsLowerCase = options["containsLowercaseCharacter"]?.bool ?? false
    needsUpperCase = options["containsUppercaseCharacter"]?.bool ?? false
    needsDigit = options["containsNumericCharacter"]?.bool ?? false
    needsSymbol = options["containsNonAlphanumericCharacter"]?.bool ?? false
  }

  /// The policy as administrators set it.
  var json: JSON {
    ["passwordPolicyVersions": [["customStrengthOptions": options]]]
  }

  /// The policy as clients read it (`/v2/passwordPolicy`).
  var clientJSON: JSON {
    [
      "schemaVersion": 1, "customStrengthOptions": options, "enforcementState": "ENFORCE", "forceUpgradeOnSignin": false,
      "allowedNonAlphanumericCharacters": .array(
        "^$*.[]{}()?\"!@#%&/\\,><':;|_~".map { .string(String($0)) }),
    ]
  }

  private var options: JSON {
    [
      "minPasswordLength": .int(Int64(minLength)), "maxPasswordLength": .int(Int64(maxLength)),
      "containsLowercaseCharacter": .bool(needsLowerCase), "containsUppercaseCharacter": .bool(needsUpperCase),
      "containsNumericCharacter": .bool(needsDigit), "containsNonAlphanumericCharacter": .bool(needsSymbol),
    ]
  }

  /// Refuses a password that is too weak.
  func check(_ password: String) throws(AccountError) {
    let length = password.utf16.count
    guard length >= Self.lengthMin else { throw AccountError("WEAK_PASSWORD", "Password should be at least 6 characters") }
    var faults: [String] = []
    if length < minLength { faults.append("Password must contain at least \(minLength) characters") }
    if length > maxLength { faults.append("Password may contain at most \(maxLength) characters") }
    let scalars = password.unicodeScalars
    if needsLowerCase, !scalars.contains(where: \.properties.isLowercase) {
      faults.append("Password must contain a lower case character")
    }
    if needsUpperCase, !scalars.contains(where: \.properties.isUppercase) {
      faults.append("Password must contain an upper case character")
    }
    if needsDigit, !scalars.contains(where: { ("0"..."9").contains($0) }) {
      faults.append("Password must contain a numeric character")
    }
    if needsSymbol, !scalars.contains(where: { !$0.properties.isAlphabetic && !("0"..."9").contains($0) }) {
      faults.append("Password must contain a non-alphanumeric character")
    }
    guard faults.isEmpty else {
      throw AccountError(
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "Missing password requirements: [\(faults.joined(separator: ", "))]")
    }
  }
}

/// Which second factors players may enrol (`mfa` of a project's configuration). What is enrolled is asked for whatever this
/// says: nobody's account becomes less safe by a setting.
package struct SecondFactorPolicy: Sendable, Hashable {
  /// By how many steps of thirty seconds an authenticator's clock may be wrong, unless it is said.
  private static let adjacentDefault = 5

  /// Whether codes may go to telephones.
  package var allowsPhone: Bool
  /// By how many steps an authenticator's clock may be wrong, 0 to 10; nil where authenticators are not allowed.
  package var adjacentSteps: Int?

  /// None: what Firebase begins with.
  package static let none = SecondFactorPolicy(allowsPhone: false, adjacentSteps: nil)
  /// All: what development begins with.
  package static let all = SecondFactorPolicy(allowsPhone: true, adjacentSteps: adjacentDefault)

  init(allowsPhone: Bool, adjacentSteps: Int?) {
    self.allowsPhone = allowsPhone
    self.adjacentSteps = adjacentSteps
  }

  /// Reads what ``json`` wrote, or an administrator: `{state, enabledProviders, providerConfigs}`; nil if nothing is said.
  init?(_ json: JSON?) {
    guard let json, ["state", "enabledProviders", "providerConfigs"].contains(where: { json[$0] != nil }) else { return nil }
    self = .none
    guard json["state"]?.string != "DISABLED" else { return }
    allowsPhone = json["enabledProviders"]?.array?.contains { $0.string == "PHONE_SMS" } ?? false
    for config in json["providerConfigs"]?.array ?? [] where config["state"]?.string != "DISABLED" {
      guard let own = config["totpProviderConfig"] else { continue }
      adjacentSteps = min(max(Int(own["adjacentIntervals"]?.int ?? Int64(Self.adjacentDefault)), 0), 10)
    }
  }

  /// As the protocol shows it.
  package var json: JSON {
    JSON(fields: [
      ("state", .string(allowsPhone || adjacentSteps != nil ? "ENABLED" : "DISABLED")),
      ("enabledProviders", allowsPhone ? ["PHONE_SMS"] : nil),
      (
        "providerConfigs",
        adjacentSteps.map { [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .int(Int64($0))]]] }
      ),
    ])
  }
}
