public import TreeModel

/// Functions that decide before a player's account is made, and before a session begins: Firebase's blocking functions
/// (https://firebase.google.com/docs/auth/extend-with-blocking-functions).
///
/// ```swift
/// functions.beforeCreate { user, attempt in
///   user.email?.hasSuffix("@mailinator.com") == true ? .refuse("Please use an address that lasts.") : .allow
/// }
/// ```
/// They are asked before anything is committed, and outside the writer: what is refused was never stored, and what they change is
/// part of the one commit. A change may be asked about again where it met another one; such a function must not count its calls.
/// One that throws, or takes longer than ``Functions/decisionDeadline``, lets nobody in. Administrators and imports are not asked
/// about.
extension Functions {
  /// Decides about one sign-up or sign-in. The account is as it would be.
  public typealias SignInDecision = @Sendable (PlayerAccount, SignInAttempt) async throws -> SignInVerdict

  /// How long a decision may take.
  public static var decisionDeadline: Duration { .seconds(7) }

  /// Decides whether an account comes into being by its player, and whether an anonymous one becomes a player's own
  /// (``SignInAttempt/isUpgrade``).
  public func beforeCreate(_ decide: @escaping SignInDecision) {
    guard creationDecision == nil else { return mistake("beforeCreate is registered twice; one function decides.") }
    creationDecision = decide
  }

  /// Decides whether a session begins, after everything was shown that had to be, a second factor included.
  public func beforeSignIn(_ decide: @escaping SignInDecision) {
    guard signInDecision == nil else { return mistake("beforeSignIn is registered twice; one function decides.") }
    signInDecision = decide
  }
}

/// How somebody signs up or in.
public struct SignInAttempt: Sendable, Hashable {
  /// By what: `password` (links in mails are that, too), `anonymous`, `phone`, `custom`, or a provider as `google.com`.
  public let method: String
  /// Whether an anonymous account gets its first way to sign in; false where an account comes into being, and for sign-ins.
  public let isUpgrade: Bool
  /// The client's network: an address, of IPv6 its first 64 bits.
  public let network: String
  /// The languages that the player reads, the best first.
  public let locales: [String]

  public init(method: String, isUpgrade: Bool = false, network: String = "", locales: [String] = []) {
    self.method = method
    self.isUpgrade = isUpgrade
    self.network = network
    self.locales = locales
  }
}

/// What a function decides about a sign-up or a sign-in.
public struct SignInVerdict: Sendable {
  /// Why it may not happen, for the player; nil where it may.
  public let refusal: String?
  /// The name that the account gets; nil leaves it.
  public var displayName: String?
  /// The account's claims, an object of at most 1,000 characters; they take the place of those that it has, nil leaves them.
  public var claims: JSON?
  /// Claims of this session's tokens only; of ``Functions/beforeSignIn(_:)``.
  public var sessionClaims: JSON?
  /// Whether the address counts as the player's; nil leaves what is known of it.
  public var isEmailVerified: Bool?

  private init(refusal: String?) { self.refusal = refusal }

  /// It may happen.
  public static var allow: SignInVerdict { SignInVerdict(refusal: nil) }

  /// It may happen, and the account gets this name and these claims; nil leaves what it has.
  public static func allow(displayName: String? = nil, claims: JSON? = nil) -> SignInVerdict {
    var verdict = SignInVerdict.allow
    verdict.displayName = displayName
    verdict.claims = claims
    return verdict
  }

  /// It may not happen; the player is told why.
  public static func refuse(_ reason: String) -> SignInVerdict { SignInVerdict(refusal: reason) }
}
