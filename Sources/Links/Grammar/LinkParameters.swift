import TextFormats

/// What a long link says, decoded: each parameter once.
package struct LinkParameters: Sendable, Hashable {
  private(set) var values: [LinkParameter: String]
  /// Names that are no parameter of a link.
  package private(set) var unknown: [String]
  /// What `d` says that means nothing; nil if it says nothing, or `1`.
  package private(set) var badDebug: String?

  package init() {
    values = [:]
    unknown = []
  }

  /// Takes the parameters of a query; of a name that is repeated the first counts. Those of an opening (`d`, `cid`, …) are
  /// left out.
  package init(_ query: [(name: String, value: String)]) {
    self.init()
    for (name, value) in query {
      if name == "d", value != "1", badDebug == nil { badDebug = String(value.prefix(80)) }
      if let parameter = LinkParameter(rawValue: name) {
        if values[parameter] == nil, !value.isEmpty { values[parameter] = value }
      } else if !LinkParameter.transient.contains(name), !unknown.contains(name), unknown.count < 16 {
        unknown.append(String(name.prefix(80)))
      }
    }
  }

  /// Reads the text of ``canonical``.
  package init?(canonical text: String) {
    guard let query = LinkURL.parameters(of: text) else { return nil }
    self.init(query)
  }

  /// The value of a parameter; nil if it is missing or empty.
  package subscript(parameter: LinkParameter) -> String? {
    get { values[parameter] }
    set { values[parameter] = newValue?.isEmpty == true ? nil : newValue }
  }

  /// One text for equal parameters: sorted by name, percent-encoded. What is stored, and compared for duplicates.
  package var canonical: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key.rawValue)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
  }

  /// The long link below a prefix.
  package func longLink(below prefix: LinkPrefix) -> String { "\(prefix)/?\(canonical)" }

  /// A parameter that is a web URL; nil if it is missing or none.
  package func web(_ parameter: LinkParameter) -> LinkURL? {
    guard let url = self[parameter].flatMap({ LinkURL($0) }), url.isWeb else { return nil }
    return url
  }
}

/// A parameter of a long link, by its name in the URL
/// (https://firebase.google.com/docs/dynamic-links/create-manually).
package enum LinkParameter: String, Sendable, Hashable, CaseIterable, Comparable {
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
  package static func < (left: LinkParameter, right: LinkParameter) -> Bool { left.rawValue < right.rawValue }

  /// The five that go along with the payload and to the Play Store.
  package static let utm: [LinkParameter] = [.utmSource, .utmMedium, .utmCampaign, .utmTerm, .utmContent]
  /// Those that the patterns of allowed URLs are applied to.
  static let judged: [LinkParameter] = [
    .link, .androidLink, .androidFallback, .iosFallback, .ipadFallback, .desktopFallback,
  ]
  /// Parameters of an opening, which are no part of what the link says.
  static let transient: Set<String> = ["d", "_icp", "_ipad", "cid", "fbclid", "gclid"]
  /// Those that stood for something once.
  static let deprecated: Set<String> = ["apn_source", "ad", "adr"]
}

/// A long link: a prefix and what it says.
package struct LongLink: Sendable, Hashable {
  /// The longest of the project's prefixes that holds it.
  package let prefix: LinkPrefix
  /// What it says, decoded.
  package let parameters: LinkParameters
  /// Whether something stood behind a `#`.
  package let hasFragment: Bool

  /// The longest link that is taken, in bytes.
  package static let lengthMax = 7168

  /// Reads `https://go.acme.test/r/?link=…`.
  ///
  /// - `settings`: knows the prefixes; the longest that holds the link is meant.
  /// - Throws: ``LinkError/invalid(_:)``, in the words of the Dynamic Links API.
  package init(_ text: String, settings: LinkSettings) throws(LinkError) {
    guard text.utf8.count <= Self.lengthMax else {
      throw .invalid("The link is longer than \(Self.lengthMax) characters; shorten its texts.")
    }
    guard let url = LinkURL(text), url.scheme == "https", let query = url.parameters else {
      throw .invalid(
        "Long link is not parsable: \(text.prefix(200)). It must be https://PREFIX/?link=URL, percent-encoded.")
    }
    guard let prefix = settings.prefix(host: url.host + url.port, path: url.path) else {
      throw .invalid(
        "Your project does not own Dynamic Links domain: https://\(url.host)\(url.port). Add it to \"domains\" of the link settings."
      )
    }
    guard prefix.remainder(of: url.path)?.isEmpty == true else {
      throw .invalid("Long link is not parsable: \(text.prefix(200)). Its path must end with the prefix \(prefix).")
    }
    self.prefix = prefix
    parameters = LinkParameters(query)
    hasFragment = url.fragment != nil
  }
}
