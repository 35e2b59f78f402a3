@testable import Credentials
import TestSupport
import TextFormats
import TreeModel

/// What most of these tests begin with.
enum Keys {
  /// The beginning of 2027, and of the examples in the protocol's description.
  static let now: Int64 = 1_800_000_000_000
  static let first = try! SigningKey(pem: TestKeys.first)
  static let second = try! SigningKey(pem: TestKeys.second)

  static func ring() -> KeyRing { KeyRing([KeyRing.Entry(key: first, signsFrom: 0)]) }
  static func issuer(_ mode: IDTokenIssuer.Mode) -> IDTokenIssuer { IDTokenIssuer(mode: mode, keys: CurrentKeys(ring())) }

  /// A token with any header and claims, with a signature of one's own.
  static func token(_ header: JSON, _ claims: JSON, signature: [UInt8] = [1, 2, 3]) -> String {
    String(decoding: WebToken.signedBytes(header: header, claims: claims), as: UTF8.self) + "."
      + Base64.encode(signature, as: .url)
  }

  /// The claims of a good ID token of the project `demo`, some of them replaced.
  static func claims(_ changes: [(String, JSON?)] = []) -> JSON {
    let usual: [(String, JSON)] = [
      ("iss", "https://securetoken.google.com/demo"), ("aud", "demo"), ("sub", "U28"), ("user_id", "U28"),
      ("iat", 1_800_000_000), ("exp", 1_800_003_600), ("auth_time", 1_800_000_000),
      ("firebase", ["identities": [:], "sign_in_provider": "anonymous"]),
    ]
    let names = Set(changes.map(\.0))
    let kept = usual.filter { !names.contains($0.0) }
    return .object(
      (kept + changes.compactMap { name, value in value.map { (name, $0) } }).map { JSON.Member(key: $0.0, value: $0.1) })
  }
}

enum JSONWriterText {
  static func of(_ json: JSON) -> String {
    var writer = JSONWriter()
    writer.write(json)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
