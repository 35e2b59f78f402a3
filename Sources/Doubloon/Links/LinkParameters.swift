import ClientRuntime
public import Foundation

/// The iOS app that a link opens.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkIOSParameters: LinkParameters, @unchecked Sendable {
  /// The app's bundle id.
  public var bundleID: String? { self["ibi"] }
  /// Opened instead of the App Store where the app is missing.
  public var fallbackURL: URL? {
    get { url("ifl") }
    set { self["ifl"] = newValue?.absoluteString }
  }
  /// The app's scheme, where it is not the bundle id.
  public var customScheme: String? {
    get { self["ius"] }
    set { self["ius"] = newValue }
  }
  /// The app on iPads, where it is another one.
  public var iPadBundleID: String? {
    get { self["ipbi"] }
    set { self["ipbi"] = newValue }
  }
  /// Opened on iPads instead of the App Store.
  public var iPadFallbackURL: URL? {
    get { url("ipfl") }
    set { self["ipfl"] = newValue?.absoluteString }
  }
  /// The app's number in the App Store.
  public var appStoreID: String? {
    get { self["isi"] }
    set { self["isi"] = newValue }
  }
  /// The oldest version that understands the link; the app decides what to do.
  public var minimumAppVersion: String? {
    get { self["imv"] }
    set { self["imv"] = newValue }
  }

  /// The app's bundle id.
  public init(bundleID: String) { super.init([("ibi", bundleID)]) }
}

/// The Android app that a link opens.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkAndroidParameters: LinkParameters, @unchecked Sendable {
  /// The app's package.
  public var packageName: String? { self["apn"] }
  /// Opened instead of the Play Store where the app is missing.
  public var fallbackURL: URL? {
    get { url("afl") }
    set { self["afl"] = newValue?.absoluteString }
  }
  /// The oldest version code that understands the link; 0 for any.
  public var minimumVersion: Int {
    get { self["amv"].flatMap { Int($0) } ?? 0 }
    set { self["amv"] = newValue == 0 ? nil : String(newValue) }
  }

  /// The app's package.
  public init(packageName: String) { super.init([("apn", packageName)]) }
}

/// Where a link came from, for the Play Store's and one's own statistics.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkGoogleAnalyticsParameters: LinkParameters, @unchecked Sendable {
  /// `utm_source`.
  public var source: String? {
    get { self["utm_source"] }
    set { self["utm_source"] = newValue }
  }
  /// `utm_medium`.
  public var medium: String? {
    get { self["utm_medium"] }
    set { self["utm_medium"] = newValue }
  }
  /// `utm_campaign`.
  public var campaign: String? {
    get { self["utm_campaign"] }
    set { self["utm_campaign"] = newValue }
  }
  /// `utm_term`.
  public var term: String? {
    get { self["utm_term"] }
    set { self["utm_term"] = newValue }
  }
  /// `utm_content`.
  public var content: String? {
    get { self["utm_content"] }
    set { self["utm_content"] = newValue }
  }

  /// Nothing yet.
  public init() { super.init([]) }

  /// The three that most statistics want.
  public init(source: String, medium: String, campaign: String) {
    super.init([("utm_source", source), ("utm_medium", medium), ("utm_campaign", campaign)])
  }
}

/// What is handed to the App Store.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkItunesConnectAnalyticsParameters: LinkParameters, @unchecked Sendable {
  /// `at`.
  public var affiliateToken: String? {
    get { self["at"] }
    set { self["at"] = newValue }
  }
  /// `ct`.
  public var campaignToken: String? {
    get { self["ct"] }
    set { self["ct"] = newValue }
  }
  /// `pt`.
  public var providerToken: String? {
    get { self["pt"] }
    set { self["pt"] = newValue }
  }

  /// Nothing yet.
  public init() { super.init([]) }
}

/// How a link looks where it is posted.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkSocialMetaTagParameters: LinkParameters, @unchecked Sendable {
  /// Its headline.
  public var title: String? {
    get { self["st"] }
    set { self["st"] = newValue }
  }
  /// What it says below.
  public var descriptionText: String? {
    get { self["sd"] }
    set { self["sd"] = newValue }
  }
  /// A picture of 300 by 200 pixels or more, below 300 KB.
  public var imageURL: URL? {
    get { url("si") }
    set { self["si"] = newValue?.absoluteString }
  }

  /// Nothing yet.
  public init() { super.init([]) }
}

/// How a link behaves on iOS.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkNavigationInfoParameters: LinkParameters, @unchecked Sendable {
  /// Whether the page before the app, or the store, is skipped.
  public var isForcedRedirectEnabled: Bool {
    get { self["efr"] == "1" }
    set { self["efr"] = newValue ? "1" : nil }
  }

  /// The page is shown.
  public init() { super.init([]) }
}

/// Where a link leads on other systems than iOS and Android.
///
/// `@unchecked Sendable`: the values are behind the lock of the superclass.
public final class DynamicLinkOtherPlatformParameters: LinkParameters, @unchecked Sendable {
  /// Instead of the link itself.
  public var fallbackUrl: URL? {
    get { url("ofl") }
    set { self["ofl"] = newValue?.absoluteString }
  }

  /// The link itself.
  public init() { super.init([]) }
}

/// Parameters of a link, by the names that they have in it.
///
/// `@unchecked Sendable`: the values are behind a lock.
public class LinkParameters: @unchecked Sendable {
  private let values: Locked<[String: String]>

  init(_ values: [(String, String)]) { self.values = Locked(Dictionary(values, uniquingKeysWith: { $1 })) }

  /// Those that are set and not empty.
  var items: [String: String] { values.copy.filter { !$0.value.isEmpty } }

  fileprivate subscript(name: String) -> String? {
    get { values.withLock { $0[name] } }
    set { values.withLock { $0[name] = newValue } }
  }

  fileprivate func url(_ name: String) -> URL? { self[name].flatMap { URL(string: $0) } }
}

/// How long the end of a short link is.
public enum ShortDynamicLinkPathLength: Int, Sendable {
  case `default`, short, unguessable
}

/// How a short link is made.
public final class DynamicLinkComponentsOptions: Sendable {
  private let length = Locked(ShortDynamicLinkPathLength.default)

  /// 17 characters that nobody guesses, unless `short`.
  public var pathLength: ShortDynamicLinkPathLength {
    get { length.copy }
    set { length.withLock { $0 = newValue } }
  }

  /// The default length.
  public init() {}
}
