/// Everything that can be set about links of one project, as one document (`/admin/v1/links/settings`).
///
/// Read strictly: an unknown member is an error, so that a misspelt one is not silently without effect.
package struct LinkSettings: Sendable {
  /// An iOS app.
  package struct IOSApp: Sendable, Hashable {
    /// `test.acme.ios`
    package var bundleID: String
    /// The number in its App Store address; nil before it is there.
    package var appStoreID: String?
    /// The App ID prefix, which may differ from the team's id; without it the association file leaves the app out.
    package var appIDPrefix: String?
    /// The scheme that opens it; nil: its bundle id.
    package var customScheme: String?
    /// What pages call it; nil: the bundle id's last part.
    package var name: String?
  }

  /// An Android app.
  package struct AndroidApp: Sendable, Hashable {
    /// `test.acme.app`
    package var packageName: String
    /// Of its signing certificates: `AA:BB:…`.
    package var fingerprints: [String]
    /// What pages call it; nil: the package name's last part.
    package var name: String?
  }

  /// A key that apps create links and ask for attribution with. It is in every copy of the app, so it proves little.
  package struct APIKey: Sendable, Hashable {
    /// The value of `?key=`.
    package var key: String
    /// Bundle ids that may use it; empty: all.
    package var bundleIDs: [String]
    /// What it may call: `create`, `attribute`, `messages`; empty: all.
    package var methods: Set<String>
  }

  /// How a claim becomes `referred_by`.
  package struct Referral: Sendable, Hashable {
    /// Where the inviter is written; `{uid}` stands for the player who was invited.
    package var path = "/users/{uid}/referred_by"
    /// Where a player's last sign-in is written.
    package var signedInPath = "/users/{uid}/last_signin_at"
    /// Query parameters of `link` that name the inviter, of links that have no owner.
    package var inviterParameters = ["invitedby"]
    /// How long after the first sign-in a claim is still taken, in milliseconds. Whether it is then paid is the functions'
    /// decision (`lateReferralWithin`).
    package var claimWithin: Int64 = 24 * 3_600_000
  }

  /// Guessing which click an installation came from.
  package struct Heuristics: Sendable, Hashable {
    /// Off unless somebody decided otherwise: carriers share addresses, relays hide them.
    package var isEnabled = false
    /// How long a click is a candidate, and its address is remembered, in milliseconds; at most a day.
    package var window: Int64 = 24 * 3_600_000
  }

  /// How much one client may do.
  package struct Limits: Sendable, Hashable {
    /// Links that one address may create in a second.
    package var createPerSecond = 5
    /// Links that one key may create in a day.
    package var createPerDay = 200_000
    /// Codes that one player, or one address, may try in a minute.
    package var codesPerMinute = 5
  }

  /// Where links live; nothing is a link elsewhere.
  package var domains: [LinkPrefix] = []
  /// The apps that links may open on Apple's systems.
  package var iosApps: [IOSApp] = []
  /// The apps that links may open on Android.
  package var androidApps: [AndroidApp] = []
  /// Hosts that links may lead to, beside those of ``domains``, where there are no patterns.
  package var hosts: [String] = []
  /// At most ten; a URL must match one of them.
  package var allowPatterns: [URLPattern] = []
  /// What apps call the API with; none: only administrators may.
  package var apiKeys: [APIKey] = []
  /// See ``Referral``.
  package var referral = Referral()
  /// See ``Heuristics``.
  package var heuristics = Heuristics()
  /// See ``Limits``.
  package var limits = Limits()
  /// How long the proof of a click is good, in milliseconds: Google's store keeps its referrer for 90 days.
  package var clickLifetime: Int64 = 90 * 86_400_000

  package init() {}

  /// The longest prefix that holds a path on a host; nil if there is none.
  package func prefix(host: String, path: String) -> LinkPrefix? {
    domains.filter { $0.host == host && $0.remainder(of: path) != nil }.max { $0.path.utf8.count < $1.path.utf8.count }
  }

  /// Whether a host has links.
  package func servesLinks(on host: String) -> Bool { domains.contains { $0.host == host } }

  /// The registered app with this bundle id.
  package func iosApp(_ bundleID: String) -> IOSApp? { iosApps.first { $0.bundleID == bundleID } }
  /// The registered app with this package name.
  package func androidApp(_ packageName: String) -> AndroidApp? { androidApps.first { $0.packageName == packageName } }

  /// Whether links may lead to a URL: it matches a pattern; without patterns, its host is a link domain's own, or one of
  /// `hosts` or below it.
  ///
  /// The link domain's parent is not the project's for that: many share `duckdns.org` and `github.io`.
  package func allows(_ url: LinkURL) -> Bool {
    if !allowPatterns.isEmpty { return allowPatterns.contains { $0.matches(url.text) } }
    return hosts.contains { url.host == $0 || url.host.hasSuffix("." + $0) }
      || domains.contains { url.host == $0.host.split(separator: ":").first.map(String.init) ?? $0.host }
  }
}
