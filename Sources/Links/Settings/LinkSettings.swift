/// Everything that can be set about links of one project, as one document (`/admin/v1/links/settings`).
///
/// Read strictly: a member that is not known is a fault, so that a misspelt one is not silently without effect.
public struct LinkSettings: Sendable {
  /// An iOS app.
  public struct IOSApp: Sendable, Hashable {
    /// `test.acme.ios`
    public var bundleID: String
    /// The number in its App Store address; nil before it is there.
    public var appStoreID: String?
    /// The App ID prefix, which may differ from the team's id; without it the association file leaves the app out.
    public var appIDPrefix: String?
    /// The scheme that opens it; nil: its bundle id.
    public var customScheme: String?
    /// What pages call it; nil: the bundle id's last part.
    public var name: String?
  }

  /// An Android app.
  public struct AndroidApp: Sendable, Hashable {
    /// `test.acme.app`
    public var packageName: String
    /// Of its signing certificates: `AA:BB:…`.
    public var fingerprints: [String]
    /// What pages call it; nil: the package name's last part.
    public var name: String?
  }

  /// A key that apps create links and ask for attribution with. It is in every copy of the app, so it proves little.
  public struct APIKey: Sendable, Hashable {
    /// What stands behind `?key=`.
    public var key: String
    /// Bundle ids that may use it; empty: all.
    public var bundleIDs: [String]
    /// What it may call: `create`, `attribute`; empty: both.
    public var methods: Set<String>
  }

  /// How a claim becomes `referred_by`.
  public struct Referral: Sendable, Hashable {
    /// Where the inviter is written; `{uid}` stands for the player who was invited.
    public var path = "/users/{uid}/referred_by"
    /// What stands there once a player has signed in.
    public var signedInPath = "/users/{uid}/last_signin_at"
    /// Query parameters of `link` that name the inviter, of links that have no owner.
    public var inviterParameters = ["invitedby"]
    /// How long after the first sign-in a claim is still taken, in milliseconds. Whether it is then paid is the functions'
    /// decision (`lateReferralWithin`).
    public var claimWithin: Int64 = 24 * 3_600_000
  }

  /// Guessing which click an installation came from (spec: links-messaging §2, match levels).
  public struct Heuristics: Sendable, Hashable {
    /// Off unless somebody decided otherwise: carriers share addresses, relays hide them.
    public var isEnabled = false
    /// How long a click is a candidate, and its address is remembered, in milliseconds; at most a day.
    public var window: Int64 = 24 * 3_600_000
  }

  /// How much one client may do.
  public struct Limits: Sendable, Hashable {
    /// Links that one address may create in a second.
    public var createPerSecond = 5
    /// Links that one key may create in a day.
    public var createPerDay = 200_000
    /// Codes that one player, or one address, may try in a minute.
    public var codesPerMinute = 5
  }

  /// Where links live; nothing is a link elsewhere.
  public var domains: [LinkPrefix] = []
  /// The apps that links may open on Apple's systems.
  public var iosApps: [IOSApp] = []
  /// The apps that links may open on Android.
  public var androidApps: [AndroidApp] = []
  /// Hosts that links may lead to, beside those of ``domains``, where there are no patterns.
  public var hosts: [String] = []
  /// At most ten; a URL must match one of them.
  public var allowPatterns: [URLPattern] = []
  /// What apps call the API with; none: only administrators may.
  public var apiKeys: [APIKey] = []
  /// See ``Referral``.
  public var referral = Referral()
  /// See ``Heuristics``.
  public var heuristics = Heuristics()
  /// See ``Limits``.
  public var limits = Limits()
  /// How long the proof of a click is good, in milliseconds: Google's store keeps its referrer for 90 days.
  public var clickLifetime: Int64 = 90 * 86_400_000

  public init() {}

  /// The longest prefix that holds a path on a host; nil if there is none.
  public func prefix(host: String, path: String) -> LinkPrefix? {
    domains.filter { $0.host == host && $0.remainder(of: path) != nil }.max { $0.path.utf8.count < $1.path.utf8.count }
  }

  /// Whether a host has links.
  public func servesLinks(on host: String) -> Bool { domains.contains { $0.host == host } }

  /// The registered app with this bundle id.
  public func iosApp(_ bundleID: String) -> IOSApp? { iosApps.first { $0.bundleID == bundleID } }
  /// The registered app with this package name.
  public func androidApp(_ packageName: String) -> AndroidApp? { androidApps.first { $0.packageName == packageName } }

  /// Whether links may lead to a URL: it matches a pattern; without patterns, its host is a link domain's own, or one of
  /// `hosts` or below it.
  ///
  /// The link domain's parent is not the project's for that: strangers share `duckdns.org` and `github.io`.
  public func allows(_ url: LinkURL) -> Bool {
    if !allowPatterns.isEmpty { return allowPatterns.contains { $0.matches(url.text) } }
    return hosts.contains { url.host == $0 || url.host.hasSuffix("." + $0) }
      || domains.contains { url.host == $0.host.split(separator: ":").first.map(String.init) ?? $0.host }
  }
}
