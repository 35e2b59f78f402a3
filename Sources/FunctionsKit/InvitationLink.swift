import TextFormats
import TreeModel

/// A long link, put together of what it says: it opens an app, or leads to where there is one.
///
/// ```swift
/// var link = InvitationLink(to: "https://acme.test/?invitedby=\(player)", below: "https://go.acme.test/r")
/// link.ios.bundleID = "test.acme.ios"
/// link.ios.customScheme = "acme"
/// link.android.packageName = "test.acme.app"
/// link.social.title = "Come aboard"
/// try await context.set(Users.invitation, player, to: link.url)
/// ```
/// What is nil or empty is left out. Links of equal content are equal texts. The server judges a link when it is opened: its
/// prefix must be one of the link settings' `domains`, and what it opens an allowed host.
public struct InvitationLink: Sendable, Hashable {
  /// What is meant for Android.
  public struct Android: Sendable, Hashable {
    /// The app that opens it; without one a browser does.
    public var packageName: String?
    /// The version code from which on the app can open it; an older one goes to the store.
    public var minimumVersion: Int64?
    /// Where to go without the app; nil: the store.
    public var fallbackURL: String?
    /// What the app opens in the place of the link's own URL.
    public var link: String?
  }

  /// What is meant for iPhones and iPads.
  public struct IOS: Sendable, Hashable {
    /// The app that opens it; without one a browser does.
    public var bundleID: String?
    /// The app's number in the store; nil: as the link settings say.
    public var appStoreID: String?
    /// The app's own URL scheme, where it is not the bundle's name.
    public var customScheme: String?
    /// Where to go without the app; nil: the store.
    public var fallbackURL: String?
    /// The version from which on the app can open it; handed to the app, which decides.
    public var minimumVersion: String?
    /// The app on iPads, where it is another.
    public var iPadBundleID: String?
    /// Where an iPad goes without the app.
    public var iPadFallbackURL: String?
    /// Whether the preview page is left out; then nothing is copied that would prove the click after an installation.
    public var skipsPreview = false
  }

  /// What cards and the preview page show.
  public struct Social: Sendable, Hashable {
    /// The headline; nil: an invitation to the app.
    public var title: String?
    /// The sentence below it.
    public var description: String?
    /// A picture of at least 300 by 200 pixels.
    public var imageURL: String?
  }

  /// What goes along to the app and to Google's store.
  public struct Campaign: Sendable, Hashable {
    /// `utm_source`: where the link is shown.
    public var source: String?
    /// `utm_medium`: how it is sent.
    public var medium: String?
    /// `utm_campaign`.
    public var name: String?
    /// `utm_term`.
    public var term: String?
    /// `utm_content`.
    public var content: String?
  }

  /// What goes along to Apple's store.
  public struct AppStoreCampaign: Sendable, Hashable {
    /// `pt`: whose campaigns they are.
    public var providerToken: String?
    /// `at`: who gets a share of sales.
    public var affiliateToken: String?
    /// `ct`: which campaign it is.
    public var campaignToken: String?
    /// `mt`: the kind of what is sold.
    public var mediaType: String?
  }

  /// Where links begin: `https://HOST` or `https://HOST/PATH`, one of the link settings' `domains`.
  public var prefix: String
  /// What the app opens, and the desktop.
  public var target: String
  /// What is meant for Android.
  public var android = Android()
  /// What is meant for iPhones and iPads.
  public var ios = IOS()
  /// Where a desktop goes; nil: to the target.
  public var desktopURL: String?
  /// What cards and the preview page show.
  public var social = Social()
  /// What goes along to the app and to Google's store.
  public var campaign = Campaign()
  /// What goes along to Apple's store.
  public var appStoreCampaign = AppStoreCampaign()

  /// A link that opens a web address.
  ///
  /// - Parameters:
  ///   - target: what the app opens, and the desktop.
  ///   - prefix: where links begin, one of the link settings' `domains`.
  public init(to target: String, below prefix: String) {
    self.target = target
    self.prefix = prefix
  }

  /// The link: what can be sent, shortened (`longDynamicLink` of `POST /v1/shortLinks`) and opened.
  public var url: String {
    let parameters = values.compactMap { name, value in
      value.flatMap { $0.isEmpty ? nil : (name, $0) }
    }.sorted { $0.0 < $1.0 }
    let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    return "\(prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix)/?\(query)"
  }

  /// The parameters of a long link, by their names in the URL.
  private var values: [(name: String, value: String?)] {
    [
      ("link", target), ("apn", android.packageName), ("amv", android.minimumVersion.map { String($0) }),
      ("afl", android.fallbackURL), ("al", android.link), ("ibi", ios.bundleID), ("isi", ios.appStoreID),
      ("ifl", ios.fallbackURL), ("ius", ios.customScheme), ("imv", ios.minimumVersion), ("ipbi", ios.iPadBundleID),
      ("ipfl", ios.iPadFallbackURL), ("efr", ios.skipsPreview ? "1" : nil), ("ofl", desktopURL), ("st", social.title),
      ("sd", social.description), ("si", social.imageURL), ("utm_source", campaign.source), ("utm_medium", campaign.medium),
      ("utm_campaign", campaign.name), ("utm_term", campaign.term), ("utm_content", campaign.content),
      ("pt", appStoreCampaign.providerToken), ("at", appStoreCampaign.affiliateToken),
      ("ct", appStoreCampaign.campaignToken), ("mt", appStoreCampaign.mediaType),
    ]
  }
}
