/// What a player shows beside the first credential: a code that went to a telephone, or one of an authenticator.
public struct SecondFactor: Sendable, Hashable {
  /// How the player proves it.
  public enum Proof: Sendable, Hashable {
    /// By a code that goes to this number, as `+4915112345678`.
    case phone(number: String)
    /// By a code that both sides make from a secret and the time (RFC 6238). No code is good twice: only those of later steps
    /// than the last one that was used.
    case authenticator(secret: [UInt8], lastStep: Int64)
  }

  /// The kinds, by the names that tokens give them (`firebase.sign_in_second_factor`).
  public enum Kind: String, Sendable, Hashable {
    case phone
    case authenticator = "totp"
  }

  /// How many an account may have; what Firebase allows too.
  public static let most = 5

  /// What the protocol calls it: `mfaEnrollmentId`.
  public let id: String
  /// What the player calls it.
  public var displayName: String?
  /// Milliseconds since 1970.
  public let enrolledAt: Int64
  /// How the player proves it.
  public var proof: Proof

  public init(id: String, displayName: String? = nil, enrolledAt: Int64, proof: Proof) {
    self.id = id
    self.displayName = displayName
    self.enrolledAt = enrolledAt
    self.proof = proof
  }

  /// Which kind it is.
  public var kind: Kind {
    switch proof {
    case .phone: .phone
    case .authenticator: .authenticator
    }
  }

  /// The number of a telephone; nil for an authenticator.
  public var phoneNumber: String? {
    guard case .phone(let number) = proof else { return nil }
    return number
  }
}
