import AdminModel
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

  /// What it says, as clients write it; empty if the record is damaged.
  var info: JSON {
    guard let prefix, let parameters else { return [:] }
    return DynamicLinkForm.json(parameters, below: prefix)
  }
}

extension AdminLinks.Link {
  init(_ record: LinkRecord) {
    self.init(
      shortLink: record.address, longLink: record.longLink, option: record.option.rawValue,
      createdAt: Timestamp(record.createdAt), name: record.name, inviter: record.owner, code: record.code,
      invitation: record.invite, changedAt: record.changedAt.map { Timestamp($0) },
      disabledAt: record.disabledAt.map { Timestamp($0) }, info: record.info)
  }
}

extension AdminLinks.Warning {
  init(_ warning: LinkWarning) { self.init(code: warning.code, message: warning.message) }
}

extension LinkWarning {
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

extension AdminLedger.ReferralEvidence {
  /// A claim, as `referrals:claim` and the administrators' listing answer it.
  init(_ claim: LinkClaim) {
    self.init(player: claim.player, inviter: claim.inviter, link: claim.link, at: Timestamp(claim.at), how: "code")
    switch claim.evidence {
    case .click(let id, let time, let platform):
      how = "click"
      (click, clickedAt, self.platform) = (id, Timestamp(time), platform.rawValue)
    case .code(let text): code = text
    }
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
