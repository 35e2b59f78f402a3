/// A parameter of a long link, by its name in the URL (spec: links-messaging §1).
public enum LinkParameter: String, Sendable, Hashable, CaseIterable, Comparable {
  /// What the app opens, and the desktop.
  case link
  case androidPackage = "apn"
  case androidMinimumVersion = "amv"
  case androidFallback = "afl"
  /// Legacy: replaces `link` on Android.
  case androidLink = "al"
  case iosBundle = "ibi"
  case appStoreID = "isi"
  case iosFallback = "ifl"
  case iosScheme = "ius"
  case iosMinimumVersion = "imv"
  case ipadBundle = "ipbi"
  case ipadFallback = "ipfl"
  /// `1` skips the preview page on iOS.
  case forcedRedirect = "efr"
  case desktopFallback = "ofl"
  case socialTitle = "st"
  case socialDescription = "sd"
  case socialImage = "si"
  case utmSource = "utm_source"
  case utmMedium = "utm_medium"
  case utmCampaign = "utm_campaign"
  case utmTerm = "utm_term"
  case utmContent = "utm_content"
  case providerToken = "pt"
  case affiliateToken = "at"
  case campaignToken = "ct"
  case mediaType = "mt"

  /// By name, so that the same parameters always make the same text.
  public static func < (left: LinkParameter, right: LinkParameter) -> Bool { left.rawValue < right.rawValue }

  /// The five that go along with the payload and to the Play Store.
  public static let utm: [LinkParameter] = [.utmSource, .utmMedium, .utmCampaign, .utmTerm, .utmContent]
  /// Those that the patterns of allowed URLs are applied to.
  static let judged: [LinkParameter] = [
    .link, .androidLink, .androidFallback, .iosFallback, .ipadFallback, .desktopFallback,
  ]
  /// Parameters of an opening, which are no part of what the link says.
  static let transient: Set<String> = ["d", "_icp", "_ipad", "cid", "fbclid", "gclid"]
  /// Those that stood for something once.
  static let deprecated: Set<String> = ["apn_source", "ad", "adr"]
}
