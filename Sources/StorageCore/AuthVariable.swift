public import TreeModel

/// Who a write is from, as security rules see it: the variable `auth` (spec: rtdb-protocol §4.4).
///
/// A class, so that a session's requests share one. Equal are those with equal texts.
public final class AuthVariable: Sendable, Hashable {
  /// An object: `uid`, `provider` and `token` with all claims; or, of an override, whatever was given.
  public let json: JSON
  /// The user; nil if an override names none.
  public let uid: String?

  /// The variable as it is given, of an override.
  public init(json: JSON) {
    self.json = json
    uid = json["uid"]?.string
  }

  /// The variable of a user whose ID token has these claims.
  public convenience init(uid: String, claims: JSON) {
    let provider = claims["firebase"]?["sign_in_provider"] ?? claims["provider_id"] ?? .null
    self.init(
      json: .object([
        JSON.Member(key: "uid", value: .string(uid)), JSON.Member(key: "provider", value: provider),
        JSON.Member(key: "token", value: claims),
      ]))
  }

  /// Under what name its writes are recorded.
  public var actor: Actor {
    if let uid { .user(uid: uid) } else { .anonymous }
  }

  public static func == (left: AuthVariable, right: AuthVariable) -> Bool {
    left === right || left.json == right.json
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}
