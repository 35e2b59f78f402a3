import Links
import TreeModel

extension LinkDraft {
  /// Reads the body of `POST /v1/shortLinks`.
  ///
  /// - Throws: `LinkError/invalid(_:)`.
  init(json: JSON, settings: LinkSettings) throws {
    switch (json["longDynamicLink"], json["dynamicLinkInfo"]) {
    case (let long?, nil):
      guard let text = long.string else { throw LinkError.invalid("longDynamicLink must be a text.") }
      let link = try LongLink(text, settings: settings)
      self.init(prefix: link.prefix, parameters: link.parameters, hasFragment: link.hasFragment)
    case (nil, let info?):
      let (prefix, parameters) = try DynamicLinkForm.read(info, settings: settings)
      self.init(prefix: prefix, parameters: parameters)
    default:
      throw LinkError.invalid(
        "Set longDynamicLink (https://PREFIX/?link=…) or dynamicLinkInfo (an object). Expecting exactly one.")
    }
    guard let suffix = json["suffix"], !suffix.isNull else { return }
    guard suffix.object != nil else { throw LinkError.invalid("suffix must be an object: {\"option\": \"SHORT\"}.") }
    customSuffix = suffix["customSuffix"]?.string
    switch suffix["option"] {
    case nil, .null, "OPTION_UNSPECIFIED", 0: option = customSuffix == nil ? .unguessable : .custom
    case "UNGUESSABLE", 1: option = .unguessable
    case "SHORT", 2: option = .short
    case "CUSTOM", 3: option = .custom
    default: throw LinkError.invalid("suffix.option must be UNGUESSABLE, SHORT or CUSTOM.")
    }
  }
}

/// A link as an object of parameters: `dynamicLinkInfo` of the Dynamic Links API
/// (https://firebase.google.com/docs/reference/dynamic-links/link-shortener).
enum DynamicLinkForm {
  private static let groups: [(group: [String], members: [(name: String, parameter: LinkParameter)])] = [
    ([], [("link", .link)]),
    (
      ["androidInfo"],
      [
        ("androidPackageName", .androidPackage), ("androidMinPackageVersionCode", .androidMinimumVersion),
        ("androidFallbackLink", .androidFallback), ("androidLink", .androidLink),
      ]
    ),
    (
      ["iosInfo"],
      [
        ("iosBundleId", .iosBundle), ("iosAppStoreId", .appStoreID), ("iosFallbackLink", .iosFallback),
        ("iosCustomScheme", .iosScheme), ("iosMinimumVersion", .iosMinimumVersion), ("iosIpadBundleId", .ipadBundle),
        ("iosIpadFallbackLink", .ipadFallback),
      ]
    ),
    (["desktopInfo"], [("desktopFallbackLink", .desktopFallback)]),
    (
      ["socialMetaTagInfo"],
      [("socialTitle", .socialTitle), ("socialDescription", .socialDescription), ("socialImageLink", .socialImage)]
    ),
    (
      ["analyticsInfo", "googlePlayAnalytics"],
      [
        ("utmSource", .utmSource), ("utmMedium", .utmMedium), ("utmCampaign", .utmCampaign), ("utmTerm", .utmTerm),
        ("utmContent", .utmContent),
      ]
    ),
    (
      ["analyticsInfo", "itunesConnectAnalytics"],
      [("pt", .providerToken), ("at", .affiliateToken), ("ct", .campaignToken), ("mt", .mediaType)]
    ),
  ]

  /// Reads the object.
  ///
  /// - Throws: `LinkError/invalid(_:)` for a wrong type, and for no prefix, or two.
  static func read(_ info: JSON, settings: LinkSettings) throws -> (LinkPrefix, LinkParameters) {
    guard info.object != nil else { throw LinkError.invalid("dynamicLinkInfo must be an object.") }
    let prefix = try prefix(info, settings: settings)
    var parameters = LinkParameters()
    for (group, members) in groups {
      guard let object = try self.group(group, of: info) else { continue }
      for (name, parameter) in members {
        if let text = try text(object[name], name) { parameters[parameter] = text }
      }
    }
    if let navigation = try group(["navigationInfo"], of: info), let forced = navigation["enableForcedRedirect"] {
      guard let flag = forced.bool ?? forced.string.flatMap({ Bool($0) }) else {
        throw LinkError.invalid("enableForcedRedirect must be true or false.")
      }
      if flag { parameters[.forcedRedirect] = "1" }
    }
    return (prefix, parameters)
  }

  /// Writes the object that ``read(_:settings:)`` reads.
  static func json(_ parameters: LinkParameters, below prefix: LinkPrefix) -> JSON {
    var members = [JSON.Member(key: "domainUriPrefix", value: .string(prefix.description))]
    var analytics: [JSON.Member] = []
    for (group, names) in groups {
      let values = names.compactMap { name, parameter in
        parameters[parameter].map { JSON.Member(key: name, value: .string($0)) }
      }
      if values.isEmpty { continue }
      switch group.count {
      case 0: members += values
      case 1: members.append(JSON.Member(key: group[0], value: .object(values)))
      default: analytics.append(JSON.Member(key: group[1], value: .object(values)))
      }
    }
    if !analytics.isEmpty { members.append(JSON.Member(key: "analyticsInfo", value: .object(analytics))) }
    if parameters[.forcedRedirect] == "1" {
      members.append(JSON.Member(key: "navigationInfo", value: ["enableForcedRedirect": true]))
    }
    return .object(members)
  }

  private static func prefix(_ info: JSON, settings: LinkSettings) throws -> LinkPrefix {
    let uri = try text(info["domainUriPrefix"], "domainUriPrefix")
    let domain = try text(info["dynamicLinkDomain"], "dynamicLinkDomain")
    let text: String
    switch (uri, domain) {
    case (let uri?, nil): text = uri
    case (nil, let domain?): text = "https://\(domain)"
    default:
      throw LinkError.invalid(
        "Invalid Dynamic Link domain: set domainUriPrefix (https://HOST/PATH) or dynamicLinkDomain (HOST). Expecting exactly one."
      )
    }
    guard let prefix = LinkPrefix(text) else {
      throw LinkError.invalid(
        "Invalid Dynamic Link domain \"\(text.prefix(200))\": it must be https://HOST or https://HOST/PATH.")
    }
    guard settings.domains.contains(prefix) else {
      throw LinkError.invalid(
        "Your project does not own Dynamic Links domain: \(prefix). Add it to \"domains\" of the link settings.")
    }
    return prefix
  }

  private static func group(_ names: [String], of info: JSON) throws -> JSON? {
    var object = info
    for name in names {
      guard let next = object[name], !next.isNull else { return nil }
      guard next.object != nil else { throw LinkError.invalid("\(name) must be an object.") }
      object = next
    }
    return object
  }

  /// A text; numbers are taken too, as generated clients send versions and store ids.
  private static func text(_ value: JSON?, _ name: String) throws -> String? {
    switch value {
    case nil, .null: return nil
    case .string(let text): return text.isEmpty ? nil : text
    case .int(let number): return String(number)
    default: throw LinkError.invalid("\(name) must be a text.")
    }
  }
}
