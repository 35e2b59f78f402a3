package import TreeModel

/// Judges what a link says: what is wrong with it refuses it, what is doubtful makes a warning (spec: links-messaging §1).
struct LinkChecker {
  let settings: LinkSettings

  /// The longest value of a parameter that is no URL, in bytes.
  private static let valueMax = 1000

  /// - Throws: ``LinkError`` if the link must not be created or opened.
  /// - Returns: what is doubtful.
  func check(_ parameters: LinkParameters, below prefix: LinkPrefix, hasFragment: Bool = false) throws(LinkError)
    -> [LinkWarning]
  {
    try checkLink(parameters)
    for parameter in LinkParameter.judged {
      guard let url = parameters.web(parameter) else { continue }
      guard settings.allows(url) else { throw Self.miss(parameter, url, hasPatterns: !settings.allowPatterns.isEmpty) }
    }
    if let scheme = parameters[.iosScheme], !Self.isSafeScheme(scheme) {
      throw .invalid("ius \"\(scheme.prefix(40))\" cannot open an app; use a scheme of the app's own.")
    }
    for parameter in [LinkParameter.androidPackage, .iosBundle, .ipadBundle] {
      if let name = parameters[parameter], !LinkSettings.isIdentifier(name) {
        throw .invalid("\(parameter.rawValue) \"\(name.prefix(100))\" is no name of an app.")
      }
    }
    let length = prefix.description.utf8.count + 2 + parameters.canonical.utf8.count
    guard length <= 3 * LongLink.lengthMax else {
      throw .invalid("The link is longer than \(LongLink.lengthMax) characters; shorten its texts.")
    }
    return androidWarnings(parameters) + iosWarnings(parameters) + urlWarnings(parameters)
      + shapeWarnings(parameters, hasFragment: hasFragment)
  }

  private func checkLink(_ parameters: LinkParameters) throws(LinkError) {
    guard let text = parameters[.link] else {
      throw .invalid("Link parameter is missing: give link=https://…, the address that the app opens.")
    }
    guard let url = parameters.web(.link) else {
      throw .invalid("Link \"\(text.prefix(200))\" is not an absolute http or https URL.")
    }
    if let prefix = settings.prefix(host: url.host + url.port, path: url.path) {
      throw .invalid("Link \(url.text.prefix(200)) is itself below the prefix \(prefix); give the address of the content.")
    }
  }

  private static func miss(_ parameter: LinkParameter, _ url: LinkURL, hasPatterns: Bool) -> LinkError {
    .invalid(
      "We could not match param '\(parameter.rawValue)' with value '\(url.text.prefix(200))' "
        + (hasPatterns
          ? "to the allowed URL patterns: add one to \"allowPatterns\" of the link settings."
          : "to a host of this project: add \(url.host) to \"hosts\" of the link settings, or patterns to \"allowPatterns\"."))
  }

  // MARK: Warnings

  private func androidWarnings(_ parameters: LinkParameters) -> [LinkWarning] {
    var warnings: [LinkWarning] = []
    let package = parameters[.androidPackage]
    if let package, settings.androidApp(package) == nil {
      warnings.append(
        LinkWarning("NOT_IN_PROJECT_ANDROID_PACKAGE_NAME", "Android app \(package) is not registered in the link settings."))
    }
    if let version = parameters[.androidMinimumVersion] {
      if !Self.isNumber(version) {
        warnings.append(LinkWarning("NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION", "amv must be an integer version code."))
      }
      if package == nil {
        warnings.append(
          LinkWarning("UNNECESSARY_ANDROID_PACKAGE_MIN_VERSION", "amv has no effect without apn."))
      }
    }
    if let link = parameters[.androidLink] {
      if parameters.web(.androidLink) == nil {
        warnings.append(LinkWarning("NOT_URI_ANDROID_LINK", "al is not an http or https URL."))
      } else if link == parameters[.link] {
        warnings.append(LinkWarning("UNNECESSARY_ANDROID_LINK", "al is the same as link."))
      }
    }
    return warnings
  }

  private func iosWarnings(_ parameters: LinkParameters) -> [LinkWarning] {
    var warnings: [LinkWarning] = []
    let (phone, pad) = (parameters[.iosBundle], parameters[.ipadBundle])
    if let phone, settings.iosApp(phone) == nil {
      warnings.append(LinkWarning("NOT_IN_PROJECT_IOS_BUNDLE_ID", "iOS app \(phone) is not registered in the link settings."))
    }
    if let pad, settings.iosApp(pad) == nil {
      warnings.append(LinkWarning("NOT_IN_PROJECT_IPAD_BUNDLE_ID", "iPad app \(pad) is not registered in the link settings."))
    }
    let hasApp = phone != nil || pad != nil
    if parameters[.iosScheme] != nil, !hasApp {
      warnings.append(LinkWarning("UNNECESSARY_IOS_URL_SCHEME", "ius has no effect without ibi or ipbi."))
    }
    guard let store = parameters[.appStoreID] else { return warnings }
    if !Self.isNumber(store) {
      warnings.append(LinkWarning("NOT_NUMERIC_IOS_APP_STORE_ID", "isi must be digits."))
    } else if !hasApp {
      warnings.append(LinkWarning("UNNECESSARY_IOS_APP_STORE_ID", "isi has no effect without ibi or ipbi."))
    } else if let app = (phone ?? pad).flatMap({ settings.iosApp($0) }), let registered = app.appStoreID, registered != store {
      warnings.append(
        LinkWarning(
          "NOT_MATCHING_IOS_BUNDLE_ID_AND_STORE_ID", "isi \(store) is not the App Store id of \(app.bundleID), \(registered)."))
    }
    return warnings
  }

  private func urlWarnings(_ parameters: LinkParameters) -> [LinkWarning] {
    let names: [(LinkParameter, String)] = [
      (.androidFallback, "ANDROID_FALLBACK_LINK"), (.iosFallback, "IOS_FALLBACK_LINK"), (.ipadFallback, "IPAD_FALLBACK_LINK"),
      (.desktopFallback, "DESKTOP_FALLBACK_LINK"), (.socialImage, "SOCIAL_IMAGE_LINK"),
    ]
    return names.compactMap { parameter, name in
      guard let text = parameters[parameter] else { return nil }
      guard let url = LinkURL(text) else { return LinkWarning("NOT_URI_\(name)", "\(parameter.rawValue) is not a URL.") }
      return url.isWeb
        ? nil : LinkWarning("BAD_URI_SCHEME_\(name)", "\(parameter.rawValue) must begin with https:// or http://.")
    }
  }

  private func shapeWarnings(_ parameters: LinkParameters, hasFragment: Bool) -> [LinkWarning] {
    var warnings = parameters.unknown.map { name in
      LinkParameter.deprecated.contains(name)
        ? LinkWarning("DEPRECATED_PARAM", "\(name) has no effect any more.")
        : LinkWarning("UNRECOGNIZED_PARAM", "\(name) is not a known parameter; it was left out.")
    }
    if let text = parameters.badDebug {
      warnings.append(LinkWarning("BAD_DEBUG_PARAM", "d=\(text) has no effect; d=1 shows where the link leads."))
    }
    for parameter in LinkParameter.allCases where !LinkParameter.judged.contains(parameter) {
      if let value = parameters[parameter], value.utf8.count > Self.valueMax {
        warnings.append(
          LinkWarning("TOO_LONG_PARAM", "\(parameter.rawValue) is longer than \(Self.valueMax) bytes; readers may cut it."))
      }
    }
    if parameters.canonical.utf8.count > 2000 {
      warnings.append(LinkWarning("LINK_LENGTH_TOO_LONG", "The long link has more than 2000 characters; some apps cut it."))
    }
    if hasFragment {
      warnings.append(LinkWarning("LINK_WITH_FRAGMENTS", "What stands behind # in the dynamic link has no effect."))
    }
    return warnings
  }

  // MARK: Forms

  static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { (48...57).contains($0) }
  }

  /// Whether a scheme can only belong to an app.
  static func isSafeScheme(_ scheme: String) -> Bool {
    let unsafe: Set<String> = [
      "javascript", "data", "vbscript", "file", "http", "https", "blob", "about", "ftp", "intent", "content", "filesystem",
      "view-source", "ws", "wss", "jar", "chrome",
    ]
    let lower = scheme.lowercased()
    guard let first = lower.utf8.first, (97...122).contains(first), lower.utf8.count <= 155 else { return false }
    return !unsafe.contains(lower)
      && lower.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46
      }
  }
}

/// What is doubtful about a link that was created all the same (spec: links-messaging §1, warnings).
package struct LinkWarning: Sendable, Hashable {
  /// One of the API's words: `UNRECOGNIZED_PARAM`.
  package let code: String
  /// For people.
  package let message: String

  init(_ code: String, _ message: String) {
    self.code = code
    self.message = message
  }

  /// As the API writes it.
  package var json: JSON { ["warningCode": .string(code), "warningMessage": .string(message)] }
}
