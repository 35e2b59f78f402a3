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
  let refreshToken: String
  /// When, in milliseconds since 1970: what the tokens bear is of the same reading as what the commit stored.
  let time: Int64

  var signIn: SignIn {
    SignIn(
      provider: provider, time: authTime,
      extraClaims: extraClaims.flatMap { try? JSONParser.parse($0) } ?? .null)
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
