import StorageCore
import TextFormats
package import TreeModel

/// Which link an installation, or an opening of the app, came from (spec: links-messaging §2).
extension LinkService {
  /// Finds a link that was presented, as text: short or long, with `cid` and `_icp` or without.
  func proof(_ text: String) async throws(LinkError) -> LinkProof? {
    guard text.utf8.count <= 2 * LongLink.lengthMax else { return nil }
    let address = text.firstRange(of: "://") == nil ? "https://\(text)" : text
    guard let url = LinkURL(address), let query = url.parameters else { return nil }
    let settings = settings
    guard let prefix = settings.prefix(host: url.host + url.port, path: url.path) else { return nil }
    let token = query.first { $0.name == "cid" }?.value
    let rest = prefix.remainder(of: url.path).map(String.init) ?? ""
    if rest.isEmpty {
      let parameters = LinkParameters(query)
      guard (try? LinkChecker(settings: settings).check(parameters, below: prefix)) != nil,
        try !isDisabled(parameters, below: prefix)
      else { return nil }
      let binding = String(parameters.longLink(below: prefix).dropFirst("https://".count))
      let click = try await token.flatMapClick(binding, self)
      return LinkProof(
        parameters: parameters, prefix: prefix, record: nil, click: click, hasBadClick: token != nil && click == nil)
    }
    let suffix = rest.hasSuffix("/") ? String(rest.dropLast()) : rest
    guard LinkSuffix.isShortForm(suffix), let entry = try entry("\(prefix.key)/\(suffix)"), entry.fault == nil,
      let parameters = entry.record.parameters
    else { return nil }
    let click = try await token.flatMapClick(entry.record.key, self)
    return LinkProof(
      parameters: parameters, prefix: prefix, record: entry.record, click: click, hasBadClick: token != nil && click == nil)
  }

  /// Reads a proof of a click; nil if it is not good, or too old.
  func clickToken(_ text: String, for link: String) async throws(LinkError) -> ClickToken? {
    let key = try await clickKey()
    guard let click = ClickToken(text, for: link, key: key) else { return nil }
    let age = clock.now() - click.time
    return age <= settings.clickLifetime && age >= -60_000 ? click : nil
  }

  /// Answers `installAttribution`: called once after an installation.
  ///
  /// - `address`: the device's, for guessing.
  package func installAttribution(_ json: JSON, address: String?) async throws(LinkError) -> JSON {
    guard let bundle = json["bundleId"]?.string, !bundle.isEmpty else { throw .invalid("bundleId is missing.") }
    if let text = Self.presented(json) {
      guard let proof = try await proof(text) else {
        return nothing("The presented link is not known here, or not allowed.", address)
      }
      guard Self.isFor(bundle, proof.parameters) else {
        return nothing("The presented link is for another app than \(bundle).", address)
      }
      guard let click = proof.click else {
        guard !proof.hasBadClick else { return nothing("The proof of the click is not good, or too old.", address) }
        return attributed(
          proof, bundle, .default, "The link was on the device, without a proof of a click.", address)
      }
      guard try await use("install/\(click.id)", proof, bundle: bundle) else {
        return nothing("The proof of the click was used before.", address)
      }
      return attributed(proof, bundle, .unique, "The proof of a click was found on the device.", address)
    }
    guard settings.heuristics.isEnabled else {
      return nothing("No proof was presented, and guessing is off; let the player enter the invitation code.", address)
    }
    return try await guess(json, bundle: bundle, address: address)
  }

  /// How sure an attribution is.
  enum Confidence: String {
    case unique = "UNIQUE"
    case `default` = "DEFAULT"
    case weak = "WEAK"
  }

  /// What the device presents: the text of its clipboard, or the referrer of Google's store, which names link and click.
  private static func presented(_ json: JSON) -> String? {
    if let text = json["uniqueMatchLinkToCheck"]?.string, !text.isEmpty { return text }
    return (json["installReferrer"]?.string).flatMap { presented(referrer: $0) }
  }

  /// The link of a referrer of Google's store, with its proof.
  static func presented(referrer: String) -> String? {
    guard let parameters = LinkURL.parameters(of: referrer), let link = parameters.first(where: { $0.name == "link" })?.value,
      let click = parameters.first(where: { $0.name == "cid" })?.value
    else { return nil }
    return "https://\(link)\(link.contains("?") ? "&" : "?")cid=\(click)"
  }

  /// Whether a link is for an app.
  static func isFor(_ bundle: String, _ parameters: LinkParameters) -> Bool {
    [parameters[.iosBundle], parameters[.ipadBundle], parameters[.androidPackage]].contains(bundle)
  }

  /// Marks a proof as used; false if it was.
  func use(_ claim: String, _ proof: LinkProof, bundle: String) async throws(LinkError) -> Bool {
    let value: JSON = [
      "link": .string(proof.key ?? proof.longLink), "bundle": .string(bundle), "at": .int(clock.now()),
    ]
    do throws(LinkError) {
      try await commit(
        records: [KeyedRecordChange(kind: Kind.claim, key: claim, value: value.text, expecting: .absent)],
        actor: .system("links"))
      return true
    } catch  where error.reason == Self.changed {
      return false
    }
  }

  private func guess(_ json: JSON, bundle: String, address: String?) async throws(LinkError) -> JSON {
    guard let address else { return nothing("The device's address is not known.", address) }
    let platform: LinkPlatform = json["iosVersion"] != nil || settings.iosApp(bundle) != nil ? .ios : .android
    let installed = (json["appInstallationTime"]?.int ?? json["appInstallationTime"]?.string.flatMap { Int64($0) }) ?? 0
    let now = clock.now()
    // A click after the installation cannot be what led to it.
    // Nor is an installation in the future.
    let end = installed > 0 ? min(now, min(installed, now / 1000) * 1000 + 60_000) : now
    var candidates: [(click: RecentClicks.Click, proof: LinkProof)] = []
    let clicks = recent.candidates(
      network: RecentClicks.network(of: address), platform: platform,
      systemVersion: json["iosVersion"]?.string ?? json["osVersion"]?.string ?? "", from: now - settings.heuristics.window,
      to: end
    )
    for click in clicks.suffix(100) {
      guard let proof = try await proof("https://\(click.link)"), Self.isFor(bundle, proof.parameters) else { continue }
      candidates.append((click, proof))
    }
    guard let last = candidates.last else { return nothing("No click is a candidate.", address) }
    recent.remove(candidates.map(\.click))
    let isOne = candidates.count == 1
    return attributed(
      last.proof, bundle, isOne ? .default : .weak,
      isOne
        ? "One click came from the same network and system."
        : "\(candidates.count) clicks came from the same network and system.",
      address)
  }

  // MARK: Answers

  private func attributed(
    _ proof: LinkProof, _ bundle: String, _ confidence: Confidence, _ message: String, _ address: String?
  ) -> JSON {
    let platform = platform(of: bundle, proof.parameters)
    if let key = proof.key {
      counter.count(.firstOpen, of: key, on: platform, at: clock.now())
      if platform == .android, confidence == .unique { counter.count(.install, of: key, on: platform, at: clock.now()) }
    }
    let isStrong = confidence == .unique
    let opening = LinkOpening(proof.parameters, address: proof.record?.address ?? proof.longLink, settings: settings)
    var members = payload(proof, opening, platform, isStrong: isStrong)
    members.append(.init(key: "fallbackLink", value: .string(opening.iosFallbackURL(on: .iphone))))
    if let version = proof.parameters[.iosMinimumVersion] ?? proof.parameters[.androidMinimumVersion] {
      members.append(.init(key: "appMinimumVersion", value: .string(version)))
    }
    members.append(.init(key: "attributionConfidence", value: .string(confidence.rawValue)))
    members.append(.init(key: "matchMessage", value: .string(message)))
    members.append(.init(key: "requestIpVersion", value: .string(Self.version(of: address))))
    members.append(.init(key: "isStrongMatchExecutable", value: false))
    return .object(members)
  }

  private func nothing(_ message: String, _ address: String?) -> JSON {
    [
      "matchMessage": .string(message), "requestIpVersion": .string(Self.version(of: address)),
      "isStrongMatchExecutable": false,
    ]
  }

  private static func version(of address: String?) -> String { address?.contains(":") == true ? "IP_V6" : "IP_V4" }

  func platform(of bundle: String, _ parameters: LinkParameters) -> LinkPlatform {
    if parameters[.androidPackage] == bundle, settings.iosApp(bundle) == nil || parameters[.iosBundle] != bundle {
      return .android
    }
    return settings.androidApp(bundle) != nil && settings.iosApp(bundle) == nil ? .android : .ios
  }

  /// What the app is given. Without a proof of the click nothing of it says who invited.
  private func payload(_ proof: LinkProof, _ opening: LinkOpening, _ platform: LinkPlatform, isStrong: Bool) -> [JSON.Member] {
    let destination = platform == .android ? opening.androidDestination : opening.destination
    let deepLink = isStrong ? destination : withoutInviter(destination)
    var members: [JSON.Member] = [.init(key: "deepLink", value: .string(deepLink))]
    if isStrong {
      members.append(.init(key: "requestedLink", value: .string(opening.address)))
      members.append(.init(key: "resolvedLink", value: .string(proof.longLink)))
      if let invite = proof.record?.invite { members.append(.init(key: "invitationId", value: .string(invite))) }
    }
    let names = ["utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent"]
    for (name, parameter) in zip(names, LinkParameter.utm) {
      if let value = proof.parameters[parameter] { members.append(.init(key: name, value: .string(value))) }
    }
    return members
  }

  private func withoutInviter(_ text: String) -> String {
    guard let url = LinkURL(text), let query = url.query else { return text }
    let names = Set(settings.referral.inviterParameters)
    let kept = query.split(separator: "&").filter { piece in
      !names.contains(PercentEncoding.decode(piece.split(separator: "=").first ?? "") ?? "")
    }
    let base = "\(url.scheme)://\(url.host)\(url.port)\(url.path)"
    return kept.isEmpty ? base : "\(base)?\(kept.joined(separator: "&"))"
  }

  /// Answers `reopenAttribution`: called when the app is opened by a link.
  package func reopenAttribution(_ json: JSON) async throws(LinkError) -> JSON {
    guard let text = json["requestedLink"]?.string, !text.isEmpty else { throw .invalid("requestedLink is missing.") }
    let bundle = json["bundleId"]?.string ?? json["bundle_id"]?.string ?? ""
    guard !bundle.isEmpty else { throw .invalid("bundleId is missing.") }
    guard let proof = try await proof(text) else {
      throw LinkError(.notFound, "No link is known as \(text.prefix(200)).")
    }
    let platform = platform(of: bundle, proof.parameters)
    if let key = proof.key {
      counter.count(
        .reopen, of: key, on: platform, at: clock.now(), mark: proof.record?.invite.map { "\($0)/clicked" })
    }
    let opening = LinkOpening(proof.parameters, address: proof.record?.address ?? proof.longLink, settings: settings)
    var members = payload(proof, opening, platform, isStrong: true)
    if let version = proof.parameters[.iosMinimumVersion] {
      members.append(.init(key: "iosMinAppVersion", value: .string(version)))
    }
    if let version = proof.parameters[.androidMinimumVersion] {
      members.append(.init(key: "androidMinAppVersion", value: .string(version)))
    }
    return .object(members)
  }

  /// Answers `convertInvitation`.
  package func convertInvitation(_ json: JSON) async throws(LinkError) -> JSON {
    guard let id = json["invitationId"]?["id"]?.string ?? json["invitationId"]?.string, !id.isEmpty else {
      throw .invalid("invitationId is missing: {\"invitationId\": {\"id\": \"…\"}}.")
    }
    let stored = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: "invite", key: id)
    }
    guard stored.flatMap({ $0 }) != nil else { throw LinkError(.notFound, "There is no invitation \(id.prefix(80)).") }
    try await commit(
      records: [KeyedRecordChange(kind: Kind.mark, key: "\(id)/converted", value: "{\"at\":\(clock.now())}")],
      actor: .system("links"))
    return [:]
  }
}

extension Optional where Wrapped == String {
  /// The proof that the text is, if it is one.
  fileprivate func flatMapClick(_ link: String, _ book: LinkService) async throws(LinkError) -> ClickToken? {
    guard let self else { return nil }
    return try await book.clickToken(self, for: link)
  }
}
