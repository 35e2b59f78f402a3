package import TreeModel

/// The claims of an ID token, written and read (https://firebase.google.com/docs/auth/admin/verify-id-tokens).
enum IDTokenClaims {
  /// The longest user id, in characters.
  static let uidMax = 128

  static func of(_ subject: TokenSubject, signIn: SignIn, project: String, second: Int64) -> JSON {
    // Later ones win: name and picture, then the account's claims, then the custom token's, then the server's.
    var members: [JSON.Member] = []
    func set(_ name: String, _ value: JSON) {
      members.removeAll { $0.key == name }
      members.append(JSON.Member(key: name, value: value))
    }
    if let name = subject.displayName { set("name", .string(name)) }
    if let picture = subject.photoURL { set("picture", .string(picture)) }
    for claims in [subject.customClaims, signIn.extraClaims] {
      for member in claims.object ?? [] where !ReservedClaims.names.contains(member.key) { set(member.key, member.value) }
    }
    for name in ["email", "email_verified", "phone_number", "provider_id", "user_id"] { members.removeAll { $0.key == name } }
    if signIn.provider == "anonymous" { set("provider_id", "anonymous") }
    if let email = subject.email {
      set("email", .string(email))
      set("email_verified", .bool(subject.isEmailVerified))
    } else if subject.tellsVerificationAlone, subject.isEmailVerified {
      set("email_verified", true)
    }
    if let number = subject.phoneNumber { set("phone_number", .string(number)) }
    set("auth_time", .int(signIn.time))
    set("user_id", .string(subject.uid))
    set(
      "firebase",
      JSON(fields: [
        ("identities", identities(of: subject)), ("sign_in_provider", .string(signIn.provider)),
        ("sign_in_second_factor", signIn.secondFactor.map { .string($0.kind) }),
        ("second_factor_identifier", signIn.secondFactor.map { .string($0.id) }),
        ("tenant", subject.tenant.map(JSON.string)),
      ]))
    set("iat", .int(second))
    set("exp", .int(second + IDTokenIssuer.lifetime))
    set("aud", .string(project))
    set("iss", .string(IDTokenIssuer.issuer(project)))
    set("sub", .string(subject.uid))
    return .object(members)
  }

  private static func identities(of subject: TokenSubject) -> JSON {
    var members: [JSON.Member] = []
    if let email = subject.email { members.append(JSON.Member(key: "email", value: [.string(email)])) }
    if let number = subject.phoneNumber { members.append(JSON.Member(key: "phone", value: [.string(number)])) }
    for identity in subject.identities {
      members.append(JSON.Member(key: identity.provider, value: .array(identity.ids.map { .string($0) })))
    }
    return .object(members)
  }

  /// Reads claims whose signature was checked, or need not be.
  ///
  /// - `isMock`: whether the token never ends, whatever its claims say.
  static func read(_ claims: JSON, isMock: Bool = false) throws(TokenError) -> IDToken {
    guard let uid = claims["sub"]?.string, !uid.isEmpty, uid.utf16.count <= uidMax else {
      throw .malformed("it names no user (sub).")
    }
    guard let project = claims["aud"]?.string, !project.isEmpty else { throw .malformed("it names no project (aud).") }
    return IDToken(uid: uid, project: project, times: try TokenTimes(claims), claims: claims, isMock: isMock)
  }
}

extension TokenSubject {
  /// The claims of an ID token that is issued now.
  ///
  /// - `time`: in milliseconds since 1970.
  package func claims(of signIn: SignIn, project: String, at time: Int64) -> JSON {
    IDTokenClaims.of(self, signIn: signIn, project: project, second: time / 1000)
  }
}

/// Claims that an admin gives an account, or a custom token carries: what is allowed.
package enum ReservedClaims {
  /// Names that only the server sets (https://firebase.google.com/docs/auth/admin/custom-claims).
  package static let names: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat", "iss", "jti", "nbf",
    "nonce", "sub",
  ]
  /// The longest text of an account's claims, in characters.
  package static let textMax = 1000

  /// The first reserved name that the object uses; nil if it uses none.
  package static func first(in claims: JSON) -> String? {
    claims.object?.first { names.contains($0.key) }?.key
  }

  /// Reads the text of an account's claims (`customAttributes`). An empty text is the empty object.
  ///
  /// - Throws: ``ClaimsError`` with what clients are told.
  package static func claims(of text: String) throws(ClaimsError) -> JSON {
    if text.isEmpty { return .object([]) }
    guard text.utf16.count <= textMax else { throw .tooLarge }
    guard let claims = try? JSONParser.parse(text, depthMax: WebToken.depthMax), claims.object != nil else { throw .invalid }
    if let name = first(in: claims) { throw .forbidden(name) }
    return claims
  }
}

/// Why claims of an account were not accepted.
package enum ClaimsError: Error, Sendable, Hashable {
  /// More than 1000 characters.
  case tooLarge
  /// No JSON object.
  case invalid
  /// A name that only the server sets.
  case forbidden(String)

  /// What clients are told.
  package var wireMessage: String {
    switch self {
    case .tooLarge: "CLAIMS_TOO_LARGE"
    case .invalid: "INVALID_CLAIMS"
    case .forbidden(let name): "FORBIDDEN_CLAIM : \(name)"
    }
  }
}
