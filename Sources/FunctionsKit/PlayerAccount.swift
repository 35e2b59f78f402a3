/// A player's account, as far as functions may know it: nothing of passwords and tokens.
public struct PlayerAccount: Codable, Sendable, Hashable {
  /// What the tree and the ledger call the player.
  public let uid: UserID
  /// When it was made, in milliseconds since 1970.
  public let createdAt: Int64
  /// Whether nothing but a token on some device stands for it.
  public let isAnonymous: Bool
  /// In lower case.
  public let email: String?
  /// Whether the address was seen to be the player's.
  public let isEmailVerified: Bool
  /// The name to show.
  public let displayName: String?
  /// With its plus.
  public let phoneNumber: String?
  /// Whether nobody can sign in.
  public let isDisabled: Bool
  /// An administrator's claims, as JSON text.
  public let claims: String?
  /// Who the player is elsewhere, by provider: `password`, `phone`, `google.com`.
  public let providers: [String: String]

  /// A keyed hash of the client network that the account was made from: the same for players behind one address. Nil if an
  /// administrator or an import made it.
  public let network: String?

  private enum CodingKeys: String, CodingKey {
    case uid, createdAt, email, displayName, phoneNumber, claims, providers, network
    case isAnonymous = "anonymous"
    case isEmailVerified = "emailVerified"
    case isDisabled = "disabled"
  }

  /// Reads what the engine stored, where what is false or empty is left out.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    uid = try fields.decode(UserID.self, forKey: .uid)
    createdAt = try fields.decode(Int64.self, forKey: .createdAt)
    isAnonymous = try fields.decodeIfPresent(Bool.self, forKey: .isAnonymous) ?? false
    email = try fields.decodeIfPresent(String.self, forKey: .email)
    isEmailVerified = try fields.decodeIfPresent(Bool.self, forKey: .isEmailVerified) ?? false
    displayName = try fields.decodeIfPresent(String.self, forKey: .displayName)
    phoneNumber = try fields.decodeIfPresent(String.self, forKey: .phoneNumber)
    isDisabled = try fields.decodeIfPresent(Bool.self, forKey: .isDisabled) ?? false
    claims = try fields.decodeIfPresent(String.self, forKey: .claims)
    providers = try fields.decodeIfPresent([String: String].self, forKey: .providers) ?? [:]
    network = try fields.decodeIfPresent(String.self, forKey: .network)
  }
}
