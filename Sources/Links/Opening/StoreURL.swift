/// Where an app can be had (spec: links-messaging §3, store URLs).
enum StoreURL {
  /// What addresses of the App Store begin with.
  static let appStore = "https://apps.apple.com/"

  /// `https://apps.apple.com/app/id900100200?mt=8&pt=…`
  static func appStore(_ id: String, _ parameters: LinkParameters) -> String {
    var text = "\(appStore)app/id\(id)?mt=\(PercentCoding.encode(parameters[.mediaType] ?? "8"))"
    for parameter in [LinkParameter.providerToken, .campaignToken, .affiliateToken] {
      if let value = parameters[parameter] { text += "&\(parameter.rawValue)=\(PercentCoding.encode(value))" }
    }
    return text
  }

  /// `https://play.google.com/store/apps/details?id=test.acme.app&referrer=…`: the referrer holds the campaign, and what
  /// proves the click: the link and its token.
  static func play(_ package: String, _ parameters: LinkParameters, link: String, click: String) -> String {
    var referrer = LinkParameter.utm.compactMap { parameter in
      parameters[parameter].map { "\(parameter.rawValue)=\(PercentCoding.encode($0))" }
    }
    referrer += ["cid=\(click)", "link=\(PercentCoding.encode(link))"]
    return
      "https://play.google.com/store/apps/details?id=\(PercentCoding.encode(package))&referrer=\(PercentCoding.encode(referrer.joined(separator: "&")))"
  }
}
