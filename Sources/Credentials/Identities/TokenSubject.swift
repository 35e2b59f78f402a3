public import TreeModel

/// What an ID token says about an account (spec: auth-protocol §3.1).
public struct TokenSubject: Sendable, Hashable {
  /// The account's accounts elsewhere: a provider such as `google.com` and the ids there.
  public struct Identity: Sendable, Hashable {
    /// The provider's name, such as `google.com`; never `password`, `email`, `phone` or `anonymous`.
    public let provider: String
    /// The ids at that provider (`sub`).
    public let ids: [String]

    public init(provider: String, ids: [String]) {
      self.provider = provider
      self.ids = ids
    }
  }

  /// The user's id (`localId`).
  public let uid: String
  /// The mail address, if there is one.
  public var email: String?
  /// Whether the address was seen to be the user's.
  public var isEmailVerified = false
  /// The telephone number, if there is one.
  public var phoneNumber: String?
  /// The name to show (`name`).
  public var displayName: String?
  /// The address of a picture (`picture`).
  public var photoURL: String?
  /// What an admin gave the account (`customAttributes`): an object, or null.
  public var customClaims: JSON = .null
  /// The linked providers but e-mail and telephone, which are known from above.
  public var identities: [Identity] = []

  public init(uid: String) {
    self.uid = uid
  }
}
