import TreeModel

/// The second factor that a player showed, as tokens name it (`firebase.sign_in_second_factor`,
/// `firebase.second_factor_identifier`).
public struct UsedFactor: Sendable, Hashable {
  /// `phone` or `totp`.
  public let kind: String
  /// Which of the account's it was: its enrolment's id.
  public let id: String

  public init(kind: String, id: String) {
    self.kind = kind
    self.id = id
  }

  /// Reads ``text``; nil if it is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    self.init(kind: String(parts[0]), id: String(parts[1]))
  }

  /// Both in one, as it is stored: `totp/ID`.
  public var text: String { "\(kind)/\(id)" }

  /// Reads the claims of a token; nil if they name none.
  init?(claims: JSON) {
    guard let own = claims["firebase"], let kind = own["sign_in_second_factor"]?.string,
      let id = own["second_factor_identifier"]?.string
    else { return nil }
    self.init(kind: kind, id: id)
  }
}
