import TreeModel

/// What a password must be like when it is set.
public struct PasswordPolicy: Sendable, Hashable {
  /// A shorter one is refused in any case (spec: auth-protocol §2.1).
  public static let lengthMin = 6
  /// A longer one is refused: hashing must not be made expensive from outside.
  public static let lengthMax = 4096

  /// The shortest password, in UTF-16 code units.
  public var minLength = PasswordPolicy.lengthMin
  /// The longest password, in UTF-16 code units.
  public var maxLength = PasswordPolicy.lengthMax
  /// Whether a lower case letter is needed.
  public var needsLowerCase = false
  /// Whether an upper case letter is needed.
  public var needsUpperCase = false
  /// Whether a digit is needed.
  public var needsDigit = false
  /// Whether something is needed that is no letter and no digit.
  public var needsSymbol = false

  public init() {}

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
