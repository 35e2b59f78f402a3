import Links
import TreeModel

extension LinkRecord {
  /// As `managedShortLinks:create` answers it.
  var managed: JSON {
    [
      "link": .string(address), "linkName": .string(name ?? ""), "creationTime": .string(String(createdAt)),
      "visibility": "UNARCHIVED", "info": info,
    ]
  }

  /// As administrators see it.
  var json: JSON {
    var members: [JSON.Member] = [
      .init(key: "shortLink", value: .string(address)), .init(key: "longLink", value: .string(longLink)),
      .init(key: "option", value: .string(option.rawValue)), .init(key: "createdAt", value: .int(createdAt)),
    ]
    for (key, text) in [("name", name), ("inviter", owner), ("code", code), ("invitation", invite)] {
      if let text { members.append(.init(key: key, value: .string(text))) }
    }
    for (key, time) in [("changedAt", changedAt), ("disabledAt", disabledAt)] {
      if let time { members.append(.init(key: key, value: .int(time))) }
    }
    members.append(.init(key: "info", value: info))
    return .object(members)
  }

  private var info: JSON {
    guard let prefix, let parameters else { return [:] }
    return DynamicLinkForm.json(parameters, below: prefix)
  }
}

extension LinkWarning {
  /// As `POST /v1/shortLinks` answers it.
  var json: JSON { ["warningCode": .string(code), "warningMessage": .string(message)] }

  /// The word of the Dynamic Links API.
  var code: String {
    switch self {
    case .unregisteredApp(let parameter, _): "NOT_IN_PROJECT_\(Self.name(of: parameter))"
    case .notANumber(.appStoreID): "NOT_NUMERIC_\(Self.name(of: .appStoreID))"
    case .notANumber(let parameter): "NOT_INTEGER_\(Self.name(of: parameter))"
    case .noEffectWithoutApp(let parameter): "UNNECESSARY_\(Self.name(of: parameter))"
    case .sameAsLink: "UNNECESSARY_\(Self.name(of: .androidLink))"
    case .notAURL(let parameter): "NOT_URI_\(Self.name(of: parameter))"
    case .notAWebURL(let parameter): "BAD_URI_SCHEME_\(Self.name(of: parameter))"
    case .otherStoreID: "NOT_MATCHING_IOS_BUNDLE_ID_AND_STORE_ID"
    case .deprecatedParameter: "DEPRECATED_PARAM"
    case .unknownParameter: "UNRECOGNIZED_PARAM"
    case .badDebug: "BAD_DEBUG_PARAM"
    case .tooLong: "TOO_LONG_PARAM"
    case .longLinkTooLong: "LINK_LENGTH_TOO_LONG"
    case .fragment: "LINK_WITH_FRAGMENTS"
    }
  }

  /// What warnings call a parameter.
  private static func name(of parameter: LinkParameter) -> String {
    switch parameter {
    case .androidPackage: "ANDROID_PACKAGE_NAME"
    case .androidMinimumVersion: "ANDROID_PACKAGE_MIN_VERSION"
    case .androidFallback: "ANDROID_FALLBACK_LINK"
    case .androidLink: "ANDROID_LINK"
    case .iosBundle: "IOS_BUNDLE_ID"
    case .ipadBundle: "IPAD_BUNDLE_ID"
    case .appStoreID: "IOS_APP_STORE_ID"
    case .iosFallback: "IOS_FALLBACK_LINK"
    case .ipadFallback: "IPAD_FALLBACK_LINK"
    case .iosScheme: "IOS_URL_SCHEME"
    case .desktopFallback: "DESKTOP_FALLBACK_LINK"
    case .socialImage: "SOCIAL_IMAGE_LINK"
    default: parameter.rawValue.uppercased()
    }
  }
}

extension JSON {
  /// A claim, as `referrals:claim` and the administrators' listing answer it.
  init(_ claim: LinkClaim) {
    var members: [JSON.Member] = [
      .init(key: "player", value: .string(claim.player)), .init(key: "inviter", value: .string(claim.inviter)),
      .init(key: "link", value: .string(claim.link)), .init(key: "at", value: .int(claim.at)),
    ]
    switch claim.evidence {
    case .click(let id, let time, let platform):
      members.append(.init(key: "how", value: "click"))
      members.append(.init(key: "click", value: .string(id)))
      members.append(.init(key: "clickedAt", value: .int(time)))
      members.append(.init(key: "platform", value: .string(platform.rawValue)))
    case .code(let code):
      members.append(.init(key: "how", value: "code"))
      members.append(.init(key: "code", value: .string(code)))
    }
    self = .object(members)
  }
}

// MARK: - Attribution

extension Installation {
  /// Reads the body of `installAttribution`.
  ///
  /// - `address`: the device's.
  /// - Throws: `LinkError/invalid(_:)` without a bundle id.
  init(json: JSON, address: String?) throws {
    guard let bundleID = json["bundleId"]?.string, !bundleID.isEmpty else {
      throw LinkError.invalid("bundleId is missing.")
    }
    self.init(bundleID: bundleID)
    self.address = address
    if let text = json["uniqueMatchLinkToCheck"]?.string, !text.isEmpty { link = text }
    referrer = json["installReferrer"]?.string
    isIOS = json["iosVersion"] != nil
    systemVersion = json["iosVersion"]?.string ?? json["osVersion"]?.string ?? ""
    let time = json["appInstallationTime"]
    installedAt = time?.int ?? time?.string.flatMap { Int64($0) } ?? 0
  }
}

extension InstallAttribution {
  /// As `installAttribution` answers it: the members that the iOS SDK reads
  /// (`FirebaseDynamicLinks/Sources/FIRDynamicLinkNetworking.m` of firebase-ios-sdk).
  func json(for installation: Installation) -> JSON {
    var members: [JSON.Member] = []
    let message: String
    switch self {
    case .link(let payload, let evidence):
      members = payload.members
      members.append(.init(key: "fallbackLink", value: .string(payload.iosFallback)))
      if let version = payload.parameters[.iosMinimumVersion] ?? payload.parameters[.androidMinimumVersion] {
        members.append(.init(key: "appMinimumVersion", value: .string(version)))
      }
      members.append(.init(key: "attributionConfidence", value: .string(evidence.confidence)))
      message = evidence.message
    case .none(let reason): message = reason.message(for: installation)
    }
    let version = installation.address?.contains(":") == true ? "IP_V6" : "IP_V4"
    members.append(.init(key: "matchMessage", value: .string(message)))
    members.append(.init(key: "requestIpVersion", value: .string(version)))
    members.append(.init(key: "isStrongMatchExecutable", value: false))
    return .object(members)
  }
}

extension InstallAttribution.Evidence {
  fileprivate var confidence: String {
    switch self {
    case .provenClick: "UNIQUE"
    case .linkOnly, .similarClicks(1): "DEFAULT"
    case .similarClicks: "WEAK"
    }
  }

  fileprivate var message: String {
    switch self {
    case .provenClick: "The proof of a click was found on the device."
    case .linkOnly: "The link was on the device, without a proof of a click."
    case .similarClicks(1): "One click came from the same network and system."
    case .similarClicks(let count): "\(count) clicks came from the same network and system."
    }
  }
}

extension InstallAttribution.Reason {
  fileprivate func message(for installation: Installation) -> String {
    switch self {
    case .unknownLink: "The presented link is not known here, or not allowed."
    case .linkOfOtherApp: "The presented link is for another app than \(installation.bundleID)."
    case .badProof: "The proof of the click is not good, or too old."
    case .usedProof: "The proof of the click was used before."
    case .heuristicsOff: "No proof was presented, and guessing is off; let the player enter the invitation code."
    case .unknownAddress: "The device's address is not known."
    case .noSimilarClick: "No click is a candidate."
    }
  }
}

extension LinkPayload {
  /// As `reopenAttribution` answers it.
  var json: JSON {
    var members = members
    let versions = [
      ("iosMinAppVersion", LinkParameter.iosMinimumVersion), ("androidMinAppVersion", .androidMinimumVersion),
    ]
    for (key, parameter) in versions {
      if let version = parameters[parameter] { members.append(.init(key: key, value: .string(version))) }
    }
    return .object(members)
  }

  /// What both attributions answer.
  fileprivate var members: [JSON.Member] {
    var members: [JSON.Member] = [.init(key: "deepLink", value: .string(deepLink))]
    for (key, text) in [("requestedLink", requestedLink), ("resolvedLink", resolvedLink), ("invitationId", invitation)] {
      if let text { members.append(.init(key: key, value: .string(text))) }
    }
    let names = ["utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent"]
    for (name, parameter) in zip(names, LinkParameter.utm) {
      if let value = parameters[parameter] { members.append(.init(key: name, value: .string(value))) }
    }
    return members
  }
}
