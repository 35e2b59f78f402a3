public import TreeModel

/// What a project's administrators can set about its accounts, kept with them.
public struct AccountSettings: Sendable, Hashable {
  /// Whether two accounts may have one address.
  public var allowsDuplicateEmails = false
  /// Whether it is kept secret which addresses have accounts.
  public var hidesAddresses = false
  /// Whether accounts may begin anonymous.
  public var allowsAnonymous = true
  /// Whether accounts may have passwords, and sign in by them.
  public var allowsPasswords = true
  /// Whether end users may make accounts at all.
  public var allowsSignUp = true
  /// What a new password must be like.
  public var passwordPolicy = PasswordPolicy()

  /// Which second factors players may enrol; nil for what the mode begins with.
  public var secondFactors: SecondFactorPolicy?

  public init() {}

  /// Reads what ``json`` wrote; what is missing has its default.
  public init(_ json: JSON) {
    allowsDuplicateEmails = json["signIn"]?["allowDuplicateEmails"]?.bool ?? false
    hidesAddresses = json["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
    allowsAnonymous = json["signIn"]?["anonymous"]?["enabled"]?.bool ?? true
    allowsPasswords = json["signIn"]?["email"]?["enabled"]?.bool ?? true
    allowsSignUp = !(json["client"]?["permissions"]?["disabledUserSignup"]?.bool ?? false)
    passwordPolicy = PasswordPolicy(json["passwordPolicyConfig"] ?? .null)
    secondFactors = SecondFactorPolicy(json["mfa"])
  }

  /// The settings as the protocol shows them.
  public var json: JSON {
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
