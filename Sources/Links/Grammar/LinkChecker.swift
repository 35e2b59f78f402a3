/// Checks what a link says: an error refuses it, what is doubtful makes a warning.
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
      guard settings.allows(url) else { throw Self.miss(parameter, url: url, hasPatterns: !settings.allowPatterns.isEmpty) }
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

  private static func miss(_ parameter: LinkParameter, url: LinkURL, hasPatterns: Bool) -> LinkError {
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
    if let package, settings.androidApp(package) == nil { warnings.append(.unregisteredApp(.androidPackage, name: package)) }
    if let version = parameters[.androidMinimumVersion] {
      if !Self.isNumber(version) { warnings.append(.notANumber(.androidMinimumVersion)) }
      if package == nil { warnings.append(.noEffectWithoutApp(.androidMinimumVersion)) }
    }
    if let link = parameters[.androidLink] {
      if parameters.web(.androidLink) == nil {
        warnings.append(.notAURL(.androidLink))
      } else if link == parameters[.link] {
        warnings.append(.sameAsLink)
      }
    }
    return warnings
  }

  private func iosWarnings(_ parameters: LinkParameters) -> [LinkWarning] {
    var warnings: [LinkWarning] = []
    let (phone, pad) = (parameters[.iosBundle], parameters[.ipadBundle])
    if let phone, settings.iosApp(phone) == nil { warnings.append(.unregisteredApp(.iosBundle, name: phone)) }
    if let pad, settings.iosApp(pad) == nil { warnings.append(.unregisteredApp(.ipadBundle, name: pad)) }
    let hasApp = phone != nil || pad != nil
    if parameters[.iosScheme] != nil, !hasApp { warnings.append(.noEffectWithoutApp(.iosScheme)) }
    guard let store = parameters[.appStoreID] else { return warnings }
    if !Self.isNumber(store) {
      warnings.append(.notANumber(.appStoreID))
    } else if !hasApp {
      warnings.append(.noEffectWithoutApp(.appStoreID))
    } else if let app = (phone ?? pad).flatMap({ settings.iosApp($0) }), let registered = app.appStoreID, registered != store {
      warnings.append(.otherStoreID(store, bundleID: app.bundleID, registered: registered))
    }
    return warnings
  }

  private func urlWarnings(_ parameters: LinkParameters) -> [LinkWarning] {
    [LinkParameter.androidFallback, .iosFallback, .ipadFallback, .desktopFallback, .socialImage].compactMap { parameter in
      guard let text = parameters[parameter] else { return nil }
      guard let url = LinkURL(text) else { return .notAURL(parameter) }
      return url.isWeb ? nil : .notAWebURL(parameter)
    }
  }

  private func shapeWarnings(_ parameters: LinkParameters, hasFragment: Bool) -> [LinkWarning] {
    var warnings: [LinkWarning] = parameters.unknown.map { name in
      LinkParameter.deprecated.contains(name) ? .deprecatedParameter(name) : .unknownParameter(name)
    }
    if let text = parameters.badDebug { warnings.append(.badDebug(text)) }
    for parameter in LinkParameter.allCases where !LinkParameter.judged.contains(parameter) {
      if let value = parameters[parameter], value.utf8.count > Self.valueMax {
        warnings.append(.tooLong(parameter, bytesMax: Self.valueMax))
      }
    }
    if parameters.canonical.utf8.count > 2000 { warnings.append(.longLinkTooLong) }
    if hasFragment { warnings.append(.fragment) }
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

/// What is doubtful about a link that is created and opened all the same.
package enum LinkWarning: Sendable, Hashable {
  /// The settings register no such app.
  case unregisteredApp(LinkParameter, name: String)
  case notANumber(LinkParameter)
  case noEffectWithoutApp(LinkParameter)
  case notAURL(LinkParameter)
  case notAWebURL(LinkParameter)
  /// The link for Android says what the link says.
  case sameAsLink
  /// The registered app has another id in the App Store.
  case otherStoreID(String, bundleID: String, registered: String)
  case deprecatedParameter(String)
  case unknownParameter(String)
  case badDebug(String)
  case tooLong(LinkParameter, bytesMax: Int)
  case longLinkTooLong
  /// The long link came with a fragment.
  case fragment

  /// For people.
  package var message: String {
    switch self {
    case .unregisteredApp(let parameter, let name):
      switch parameter {
      case .iosBundle: "iOS app \(name) is not registered in the link settings."
      case .ipadBundle: "iPad app \(name) is not registered in the link settings."
      default: "Android app \(name) is not registered in the link settings."
      }
    case .notANumber(.androidMinimumVersion): "amv must be an integer version code."
    case .notANumber(let parameter): "\(parameter.rawValue) must be digits."
    case .noEffectWithoutApp(.androidMinimumVersion): "amv has no effect without apn."
    case .noEffectWithoutApp(let parameter): "\(parameter.rawValue) has no effect without ibi or ipbi."
    case .notAURL(.androidLink): "al is not an http or https URL."
    case .notAURL(let parameter): "\(parameter.rawValue) is not a URL."
    case .notAWebURL(let parameter): "\(parameter.rawValue) must begin with https:// or http://."
    case .sameAsLink: "al is the same as link."
    case .otherStoreID(let store, let bundleID, let registered):
      "isi \(store) is not the App Store id of \(bundleID), \(registered)."
    case .deprecatedParameter(let name): "\(name) has no effect any more."
    case .unknownParameter(let name): "\(name) is not a known parameter; it was left out."
    case .badDebug(let text): "d=\(text) has no effect; d=1 shows where the link leads."
    case .tooLong(let parameter, let bytesMax):
      "\(parameter.rawValue) is longer than \(bytesMax) bytes; readers may cut it."
    case .longLinkTooLong: "The long link has more than 2000 characters; some apps cut it."
    case .fragment: "What stands behind # in the dynamic link has no effect."
    }
  }
}
