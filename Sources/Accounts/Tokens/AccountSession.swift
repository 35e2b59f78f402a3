import Credentials
import StorageCore
import TreeModel

/// A player who has just come in: what the tokens of the answer are made from.
struct AccountSession: Sendable {
  let record: AccountRecord
  let provider: String
  /// The claims of a custom token, as JSON text.
  let extraClaims: String?
  /// In seconds since 1970.
  let authTime: Int64
  /// Empty while a second factor is missing.
  let refreshToken: String
  /// What was shown beside the first credential.
  let secondFactor: UsedFactor?
  /// For a player who has to show a second factor first: what the sign-in changes once it is shown.
  let pendingEdit: (@Sendable (inout AccountRecord) -> Void)?
  /// When, in milliseconds since 1970: what the tokens bear is of the same reading as what the commit stored.
  let time: Int64

  init(
    record: AccountRecord, provider: String, extraClaims: String? = nil, authTime: Int64, refreshToken: String,
    secondFactor: UsedFactor? = nil, pendingEdit: (@Sendable (inout AccountRecord) -> Void)? = nil, time: Int64
  ) {
    self.record = record
    self.provider = provider
    self.extraClaims = extraClaims
    self.authTime = authTime
    self.refreshToken = refreshToken
    self.secondFactor = secondFactor
    self.pendingEdit = pendingEdit
    self.time = time
  }

  var signIn: SignIn {
    SignIn(
      provider: provider, time: authTime,
      extraClaims: extraClaims.flatMap { try? JSONParser.parse($0) } ?? .null, secondFactor: secondFactor)
  }
}

extension TokenSubject {
  /// What tokens say of an account.
  init(_ record: AccountRecord) {
    self.init(uid: record.uid)
    email = record.email
    isEmailVerified = record.isEmailVerified
    phoneNumber = record.phoneNumber
    displayName = record.displayName
    photoURL = record.photoURL
    customClaims = record.claims.flatMap { try? JSONParser.parse($0) } ?? .null
    identities = record.providers.map { Identity(provider: $0.id, ids: [$0.rawID]) }
  }
}
