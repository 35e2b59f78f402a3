import TextFormats

/// What happens when a link is opened: a pure function of what the link says, of the settings, and of the visitor.
package struct LinkOpening: Sendable {
  /// What the visitor gets.
  package enum Outcome: Sendable, Hashable {
    /// Sends the visitor on; `isFallback`: to a store or to what was named for the case that the app is missing.
    case redirect(String, isFallback: Bool)
    /// Shows the page that hands the link over by the clipboard.
    case preview
    /// Shows a card to a program.
    case card
  }

  /// What the link says.
  package let parameters: LinkParameters
  /// The link as it was opened, without parameters of the opening: what the app is to be given.
  package let address: String
  private let settings: LinkSettings

  package init(_ parameters: LinkParameters, address: String, settings: LinkSettings) {
    self.parameters = parameters
    self.address = address
    self.settings = settings
  }

  /// Decides.
  ///
  /// - `click`: proves the click, and goes along to the store.
  package func outcome(for visitor: LinkVisitor, click: String) -> Outcome {
    if visitor.isCrawler { return .card }
    switch visitor.device {
    case .android: return android(visitor, click: click)
    case .iphone, .ipad:
      guard bundle(on: visitor.device) != nil else { return .redirect(destination, isFallback: false) }
      return parameters[.forcedRedirect] == "1" ? iosFallback(on: visitor.device) : .preview
    case .desktop, .other:
      if let other = parameters.web(.desktopFallback) { return .redirect(other.text, isFallback: true) }
      return .redirect(destination, isFallback: false)
    }
  }

  /// What proofs of clicks are made for: the address without `https://`.
  package var binding: String { String(address.dropFirst("https://".count)) }

  /// What `link` says, fit for a header.
  package var destination: String { parameters.web(.link)?.text ?? "about:blank" }

  /// What the app opens on Android: `al` replaces `link`.
  package var androidDestination: String { parameters.web(.androidLink)?.text ?? destination }

  /// The app that the link is for.
  package func bundle(on device: LinkVisitor.Device) -> String? {
    device == .ipad ? parameters[.ipadBundle] ?? parameters[.iosBundle] : parameters[.iosBundle] ?? parameters[.ipadBundle]
  }

  /// Whether an iPad gets something else than a desktop: there is an app for it.
  package var differsOnIPads: Bool { bundle(on: .ipad) != nil }

  /// Where a visitor on iOS goes who does not have the app: the fallback, the App Store, the content.
  func iosFallback(on device: LinkVisitor.Device) -> Outcome {
    if device == .ipad, let fallback = parameters.web(.ipadFallback) { return .redirect(fallback.text, isFallback: true) }
    if let fallback = parameters.web(.iosFallback) { return .redirect(fallback.text, isFallback: true) }
    if let store = storeID(on: device) { return .redirect(StoreURL.appStore(store, parameters: parameters), isFallback: true) }
    return .redirect(destination, isFallback: false)
  }

  /// The same as a URL.
  package func iosFallbackURL(on device: LinkVisitor.Device) -> String {
    if case .redirect(let url, _) = iosFallback(on: device) { url } else { destination }
  }

  private func storeID(on device: LinkVisitor.Device) -> String? {
    if let id = parameters[.appStoreID] { return LinkChecker.isNumber(id) ? id : nil }
    return bundle(on: device).flatMap { settings.iosApp($0)?.appStoreID }
  }

  private func android(_ visitor: LinkVisitor, click: String) -> Outcome {
    guard let package = parameters[.androidPackage] else { return .redirect(androidDestination, isFallback: false) }
    let fallback = androidFallback(click: click)
    // Firefox takes the fallback of an intent even if the app is there; a plain link opens the app if it is verified, and is
    // sent on here if not.
    if visitor.isFirefox { return .redirect(fallback, isFallback: true) }
    let bare = binding
    let separator = bare.contains("?") ? "&" : "?"
    let intent =
      "intent://\(bare)\(separator)cid=\(click)#Intent;scheme=https;package=\(package);S.browser_fallback_url=\(PercentEncoding.encode(fallback));end"
    return .redirect(intent, isFallback: true)
  }

  /// Where a visitor on Android goes who does not have the app: what was named for that, else Google's store.
  package func androidFallback(click: String) -> String {
    if let fallback = parameters.web(.androidFallback) { return fallback.text }
    guard let package = parameters[.androidPackage] else { return androidDestination }
    return StoreURL.play(package, parameters: parameters, link: binding, click: click)
  }

  /// The app's own scheme with the link in it, for the page's button: the SDK reads `deep_link_id` and `match_type`
  /// (`FirebaseDynamicLinks/Sources/Utilities/FDLUtilities.m` of firebase-ios-sdk).
  package func appURL(on device: LinkVisitor.Device, click: String) -> String? {
    guard let bundle = bundle(on: device) else { return nil }
    let scheme = (parameters[.iosScheme] ?? settings.iosApp(bundle)?.customScheme ?? bundle).lowercased()
    guard LinkChecker.isSafeScheme(scheme) else { return nil }
    var text =
      "\(scheme)://google/link/?deep_link_id=\(PercentEncoding.encode(destination))&match_type=unique&cid=\(click)"
    for parameter in LinkParameter.utm + [.iosMinimumVersion] {
      if let value = parameters[parameter] { text += "&\(parameter.rawValue)=\(PercentEncoding.encode(value))" }
    }
    return text
  }

  /// What is copied for the app to find at its first start: the link with the proof of this click, marked with `_icp=1`, as the SDK
  /// expects it (`FirebaseDynamicLinks/Sources/FIRDLDefaultRetrievalProcessV2.m` of firebase-ios-sdk).
  package func clipboardText(click: String) -> String {
    address + (address.contains("?") ? "&" : "?") + "cid=\(click)&_icp=1"
  }
}

/// Where an app can be had.
package enum StoreURL {
  /// What addresses of the App Store begin with.
  package static let appStore = "https://apps.apple.com/"

  /// `https://apps.apple.com/app/id900100200?mt=8&pt=…`
  static func appStore(_ id: String, parameters: LinkParameters) -> String {
    var text = "\(appStore)app/id\(id)?mt=\(PercentEncoding.encode(parameters[.mediaType] ?? "8"))"
    for parameter in [LinkParameter.providerToken, .campaignToken, .affiliateToken] {
      if let value = parameters[parameter] { text += "&\(parameter.rawValue)=\(PercentEncoding.encode(value))" }
    }
    return text
  }

  /// `https://play.google.com/store/apps/details?id=test.acme.app&referrer=…`: the referrer holds the campaign, and what
  /// proves the click: the link and its token.
  static func play(_ package: String, parameters: LinkParameters, link: String, click: String) -> String {
    var referrer = LinkParameter.utm.compactMap { parameter in
      parameters[parameter].map { "\(parameter.rawValue)=\(PercentEncoding.encode($0))" }
    }
    referrer += ["cid=\(click)", "link=\(PercentEncoding.encode(link))"]
    return
      "https://play.google.com/store/apps/details?id=\(PercentEncoding.encode(package))&referrer=\(PercentEncoding.encode(referrer.joined(separator: "&")))"
  }
}
