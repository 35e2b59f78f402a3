package import TreeModel

/// An ID token, or a session cookie, that was verified.
///
/// A class: the cache hands on the same one for every request with the same token.
package final class IDToken: Sendable {
  /// Whose it is.
  package let uid: String
  /// The project that it is for (`aud`).
  package let project: String
  /// How the user came in (`firebase.sign_in_provider`); empty if the token does not say.
  package let provider: String
  /// When the user came in, in seconds since 1970 (`auth_time`).
  package let authTime: Int64
  /// When the token was issued, in seconds since 1970 (`iat`); what `validSince` is compared with.
  package let issuedAt: Int64
  /// When it ends, in seconds since 1970 (`exp`); nil for a mock token, which never does: nobody issued it, so nobody
  /// can renew it or take it back.
  package let expiresAt: Int64?
  /// The tenant whose player it is for (`firebase.tenant`); nil for a player of the project itself.
  package let tenant: String?
  /// All claims: an object.
  package let claims: JSON

  init(uid: String, project: String, times: TokenTimes, claims: JSON, isMock: Bool = false) {
    self.uid = uid
    self.project = project
    provider = claims["firebase"]?["sign_in_provider"]?.string ?? ""
    tenant = claims["firebase"]?["tenant"]?.string
    authTime = claims["auth_time"]?.int ?? times.issuedAt
    issuedAt = times.issuedAt
    expiresAt = isMock ? nil : times.expiresAt
    self.claims = claims
  }

  /// What of the claims a sign-in gave, to be asked for again at the refresh: provider, time, second factor.
  package var signIn: SignIn { SignIn(provider: provider, time: authTime, secondFactor: secondFactor) }

  /// What the user showed beside the first credential; nil for nothing.
  package var secondFactor: UsedFactor? { UsedFactor(claims: claims) }
}

/// What an ID token says about an account (https://firebase.google.com/docs/auth/admin/verify-id-tokens).
package struct TokenSubject: Sendable, Hashable {
  /// The account's accounts elsewhere: a provider such as `google.com` and the ids there.
  package struct Identity: Sendable, Hashable {
    /// The provider's name, such as `google.com`; never `password`, `email`, `phone` or `anonymous`.
    package let provider: String
    /// The ids at that provider (`sub`).
    package let ids: [String]

    package init(provider: String, ids: [String]) {
      self.provider = provider
      self.ids = ids
    }
  }

  /// The user's id (`localId`).
  package let uid: String
  /// The tenant whose player it is; nil for a player of the project itself.
  package var tenant: String?
  /// The mail address, if there is one.
  package var email: String?
  /// Whether the address was seen to be the user's.
  package var isEmailVerified = false
  /// Whether tokens say that the address was seen to be the user's even where there is none: emulators' do.
  package var tellsVerificationAlone = false
  /// The telephone number, if there is one.
  package var phoneNumber: String?
  /// The name to show (`name`).
  package var displayName: String?
  /// The address of a picture (`picture`).
  package var photoURL: String?
  /// What an admin gave the account (`customAttributes`): an object, or null.
  package var customClaims: JSON = .null
  /// The linked providers but e-mail and telephone, which are known from above.
  package var identities: [Identity] = []

  package init(uid: String) {
    self.uid = uid
  }
}

/// How a user came in: what stays the same for all tokens of a session.
package struct SignIn: Sendable, Hashable {
  /// `anonymous`, `password`, `phone`, `custom`, `google.com`, …
  package let provider: String
  /// When, in seconds since 1970 (`auth_time`); a refresh leaves it.
  package let time: Int64
  /// The claims of the custom token: an object, or null.
  package let extraClaims: JSON

  /// What the player showed beside it; nil if nothing was asked for.
  package let secondFactor: UsedFactor?

  package init(provider: String, time: Int64, extraClaims: JSON = .null, secondFactor: UsedFactor? = nil) {
    self.provider = provider
    self.time = time
    self.extraClaims = extraClaims
    self.secondFactor = secondFactor
  }
}

/// The second factor that a player showed, as tokens name it (`firebase.sign_in_second_factor`,
/// `firebase.second_factor_identifier`).
package struct UsedFactor: Sendable, Hashable {
  /// `phone` or `totp`.
  package let kind: String
  /// Which of the account's it was: its enrolment's id.
  package let id: String

  package init(kind: String, id: String) {
    self.kind = kind
    self.id = id
  }

  /// Reads ``text``; nil if it is none.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    self.init(kind: String(parts[0]), id: String(parts[1]))
  }

  /// Both in one, as it is stored: `totp/ID`.
  package var text: String { "\(kind)/\(id)" }

  /// Reads the claims of a token; nil if they name none.
  init?(claims: JSON) {
    guard let own = claims["firebase"], let kind = own["sign_in_second_factor"]?.string,
      let id = own["second_factor_identifier"]?.string
    else { return nil }
    self.init(kind: kind, id: id)
  }
}
