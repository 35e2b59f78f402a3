import Credentials
package import StorageCore
import TextFormats
package import TreeModel

/// An account as the Identity Toolkit shows it, `UserInfo`
/// (https://cloud.google.com/identity-platform/docs/reference/rest/v1/UserInfo): to players, to administrators, in exports.
package enum AccountJSON {
  /// What stands for a password that is there: base64 of "REDACTED".
  private static let redacted = "UkVEQUNURUQ="

  /// To its own player: whether there is a password, not what became of it.
  package static func own(_ record: AccountRecord) -> JSON {
    JSON(fields: fields(record, factors: .whole) + [("passwordHash", record.password == nil ? nil : .string(redacted))])
  }

  /// For an export: with hash, salt, and how they were made, and with the secrets of authenticators; the last two are this
  /// server's own words, which its import reads.
  package static func exported(_ record: AccountRecord) -> JSON {
    let config = record.password.flatMap { PasswordRecord($0) }?.importParameters
    let members = administrators(record, factors: .secret).object ?? []
    return .object(members + (config.map { [JSON.Member(key: "hashConfig", value: $0)] } ?? []))
  }

  /// To an administrator: with hash and salt.
  package static func administrators(_ record: AccountRecord, factors: FactorDetail = .whole) -> JSON {
    let password = record.password.flatMap { PasswordRecord($0) }
    return JSON(
      fields: fields(record, factors: factors) + [
        ("passwordHash", password.map { .string(Base64.encode($0.hash, as: .url)) }),
        ("salt", password.map { .string(Base64.encode($0.salt, as: .url)) }),
      ])
  }

  /// The identities, in the order in which ``AccountRecord/providerIDs`` names them; nil if there are none.
  package static func providers(_ record: AccountRecord) -> JSON? {
    let list = record.providerIDs.compactMap { id -> JSON? in
      switch id {
      case "password": record.email.map { password($0, of: record) }
      case "phone":
        record.phoneNumber.map { ["providerId": "phone", "phoneNumber": .string($0), "rawId": .string($0)] }
      default: record.providers.first { $0.id == id }.map(provider)
      }
    }
    return list.isEmpty ? nil : .array(list)
  }

  private static func password(_ email: String, of record: AccountRecord) -> JSON {
    JSON(fields: [
      ("providerId", "password"), ("displayName", record.displayName.map(JSON.string)),
      ("photoUrl", record.photoURL.map(JSON.string)), ("federatedId", .string(email)), ("email", .string(email)),
      ("rawId", .string(email)),
    ])
  }

  private static func provider(_ provider: AccountRecord.Provider) -> JSON {
    JSON(fields: [
      ("providerId", .string(provider.id)), ("displayName", provider.displayName.map(JSON.string)),
      ("photoUrl", provider.photoURL.map(JSON.string)), ("federatedId", .string(federatedID(provider))),
      ("email", provider.email.map(JSON.string)), ("rawId", .string(provider.rawID)),
      ("screenName", provider.screenName.map(JSON.string)), ("phoneNumber", provider.phoneNumber.map(JSON.string)),
    ])
  }

  /// How much is shown of second factors.
  package enum FactorDetail {
    /// The last four digits of a number only: to a client that has shown no more than a first credential.
    case masked
    case whole
    /// What an authenticator and the server share, too: in an export.
    case secret
  }

  /// A second factor, `MfaEnrollment`.
  package static func factor(_ factor: SecondFactor, detail: FactorDetail) -> JSON {
    let own: [(String, JSON?)] =
      switch factor.proof {
      case .phone(let number):
        [
          ("phoneInfo", .string(detail == .masked ? masked(number) : number)),
          ("unobfuscatedPhoneInfo", detail == .masked ? nil : .string(number)),
        ]
      case .authenticator(let bytes, _):
        [
          (
            "totpInfo",
            detail == .secret ? ["sharedSecretKey": .string(AuthenticatorSecret(bytes: bytes).text)] : [:]
          )
        ]
      }
    return JSON(
      fields: [
        ("mfaEnrollmentId", .string(factor.id)), ("displayName", factor.displayName.map(JSON.string)),
        ("enrolledAt", .string(CalendarTime(milliseconds: factor.enrolledAt).rfc3339)),
      ] + own)
  }

  private static func masked(_ number: String) -> String {
    let digits = number.dropFirst()
    return "+" + String(repeating: "*", count: max(digits.count - 4, 0)) + digits.suffix(4)
  }

  /// The identity as an address, where the provider has such.
  package static func federatedID(_ provider: AccountRecord.Provider) -> String {
    provider.id == "google.com" ? "https://accounts.google.com/\(provider.rawID)" : provider.rawID
  }

  private static func fields(_ record: AccountRecord, factors: FactorDetail) -> [(String, JSON?)] {
    [
      ("localId", .string(record.uid)), ("tenantId", record.tenant.map(JSON.string)), ("email", record.email.map(JSON.string)),
      ("emailVerified", record.email == nil ? nil : .bool(record.isEmailVerified)),
      ("displayName", record.displayName.map(JSON.string)), ("photoUrl", record.photoURL.map(JSON.string)),
      ("phoneNumber", record.phoneNumber.map(JSON.string)), ("providerUserInfo", providers(record)),
      ("createdAt", .string(String(record.createdAt))), ("lastLoginAt", record.lastLoginAt.map { .string(String($0)) }),
      ("lastRefreshAt", record.lastRefreshAt.map { .string(CalendarTime(milliseconds: $0).rfc3339) }),
      ("validSince", record.validSince.map { .string(String($0)) }), ("disabled", .bool(record.isDisabled)),
      ("customAttributes", record.claims.map(JSON.string)), ("customAuth", record.isCustom ? true : nil),
      ("screenName", record.providers.lazy.compactMap(\.screenName).first.map(JSON.string)),
      ("emailLinkSignin", record.signsInByLink ? true : nil),
      ("passwordUpdatedAt", record.passwordUpdatedAt.map(JSON.int)), ("initialEmail", record.initialEmail.map(JSON.string)),
      (
        "mfaInfo",
        record.secondFactors.isEmpty ? nil : .array(record.secondFactors.map { factor($0, detail: factors) })
      ),
    ]
  }
}
