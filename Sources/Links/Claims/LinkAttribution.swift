import StorageCore
import TextFormats
import TreeModel

/// What a newly installed app knows of its installation.
package struct Installation: Sendable {
  /// The app: a bundle id or a package name.
  package let bundleID: String
  /// The link that was on the device, from its clipboard.
  package var link: String?
  /// The referrer of Google's store, which counts where there is no link.
  package var referrer: String?
  /// Whether the app says that it runs on iOS; where it does not, the settings decide by the bundle id.
  package var isIOS = false
  /// The version of the device's system; empty if it is not known.
  package var systemVersion = ""
  /// When the app was installed, in seconds since 1970; 0 if it is not known.
  package var installedAt: Int64 = 0
  /// The device's network address, for guessing.
  package var address: String?

  package init(bundleID: String) { self.bundleID = bundleID }
}

/// Which link an installation came from.
package enum InstallAttribution: Sendable, Hashable {
  case link(LinkPayload, Evidence)
  case none(Reason)

  /// What makes it this link.
  package enum Evidence: Sendable, Hashable {
    /// The proof of a click that no installation had used.
    case provenClick
    /// The link was on the device, without a proof.
    case linkOnly
    /// Of so many clicks from the same network and system it is the last.
    case similarClicks(Int)
  }

  /// Why it is no link.
  package enum Reason: Sendable, Hashable {
    case unknownLink
    case linkOfOtherApp
    case badProof
    case usedProof
    /// No proof was presented, and guessing is off.
    case heuristicsOff
    case unknownAddress
    case noSimilarClick
  }
}

/// What an app is given of the link that it was installed or opened by.
package struct LinkPayload: Sendable, Hashable {
  /// What the app is to open.
  package let deepLink: String
  /// The link as it was opened; nil without a proof of the click.
  package let requestedLink: String?
  /// The same with everything it says in it; nil without a proof of the click.
  package let resolvedLink: String?
  /// The invitation that the link was made for; nil without a proof of the click.
  package let invitation: String?
  /// What the link says.
  package let parameters: LinkParameters
  /// Where an iPhone goes that does not have the app.
  package let iosFallback: String
}

/// Finds the link that an installation, or an opening of the app, came from: what Dynamic Links calls `installAttribution` and
/// `reopenAttribution`.
package struct LinkAttribution: Sendable {
  let links: LinkService

  /// Attributes an installation. An app asks once, at its first start.
  ///
  /// The proof of a click counts for one installation. Without a proof nothing of the answer says who invited.
  package func install(_ installation: Installation) async throws -> InstallAttribution {
    guard let text = installation.link ?? installation.referrer.flatMap(Self.link(referrer:)) else {
      return links.settings.heuristics.isEnabled ? try await guess(installation) : .none(.heuristicsOff)
    }
    guard let proof = try await LinkProof.find(text, in: links) else { return .none(.unknownLink) }
    guard Self.isLink(proof.parameters, for: installation.bundleID) else { return .none(.linkOfOtherApp) }
    guard let click = proof.click else {
      return proof.hasBadClick ? .none(.badProof) : attributed(proof, to: installation, by: .linkOnly)
    }
    guard try await use(click, of: proof, for: installation) else { return .none(.usedProof) }
    return attributed(proof, to: installation, by: .provenClick)
  }

  /// What the app is given of the link that opened it.
  ///
  /// - Throws: ``LinkError/unknownLink(_:)``.
  package func reopen(_ link: String, bundleID: String) async throws -> LinkPayload {
    guard let proof = try await LinkProof.find(link, in: links) else { throw LinkError.unknownLink(link) }
    if let key = proof.key {
      links.counter.count(
        .reopen, of: key, on: platform(of: bundleID, parameters: proof.parameters), at: links.clock.now(),
        mark: proof.record?.invite.map { "\($0)/clicked" })
    }
    return payload(proof, for: bundleID, isProven: true)
  }

  /// Notes that an invitation led to something.
  ///
  /// - Throws: ``LinkError/unknownInvitation(id:)``.
  package func convert(invitation id: String) async throws {
    guard try links.stored(LinkService.Kind.invitation, key: id) != nil else { throw LinkError.unknownInvitation(id: id) }
    try await links.commit([
      KeyedRecordChange(kind: LinkService.Kind.mark, key: "\(id)/converted", value: "{\"at\":\(links.clock.now())}")
    ])
  }

  /// The link that a referrer of Google's store names, with the proof of its click; nil if it names none.
  static func link(referrer: String) -> String? {
    guard let parameters = LinkURL.parameters(of: referrer), let link = parameters.first(where: { $0.name == "link" })?.value,
      let click = parameters.first(where: { $0.name == "cid" })?.value
    else { return nil }
    return "https://\(link)\(link.contains("?") ? "&" : "?")cid=\(click)"
  }

  private static func isLink(_ parameters: LinkParameters, for bundleID: String) -> Bool {
    [parameters[.iosBundle], parameters[.ipadBundle], parameters[.androidPackage]].contains(bundleID)
  }

  /// Marks a click as used by an installation; false if it was.
  private func use(_ click: ClickToken, of proof: LinkProof, for installation: Installation) async throws -> Bool {
    let value: JSON = [
      "link": .string(proof.key ?? proof.longLink), "bundle": .string(installation.bundleID), "at": .int(links.clock.now()),
    ]
    let outcome = try await links.commit([
      KeyedRecordChange(kind: LinkService.Kind.claim, key: "install/\(click.id)", value: value.compactText, expecting: .absent)
    ])
    return outcome == .committed
  }

  // MARK: Guessing

  private func guess(_ installation: Installation) async throws -> InstallAttribution {
    guard let address = installation.address else { return .none(.unknownAddress) }
    let settings = links.settings
    let isIOS = installation.isIOS || settings.iosApp(installation.bundleID) != nil
    let now = links.clock.now()
    let installed = installation.installedAt
    // A click after the installation cannot have led to it, and an installation cannot be in the future.
    let end = installed > 0 ? min(now, min(installed, now / 1000) * 1000 + 60_000) : now
    let clicks = links.recent.candidates(
      network: RecentClicks.network(of: address), platform: isIOS ? .ios : .android,
      systemVersion: installation.systemVersion, from: now - settings.heuristics.window, to: end)
    var candidates: [(click: RecentClicks.Click, proof: LinkProof)] = []
    for click in clicks.suffix(100) {
      guard let proof = try await LinkProof.find("https://\(click.link)", in: links),
        Self.isLink(proof.parameters, for: installation.bundleID)
      else { continue }
      candidates.append((click, proof))
    }
    guard let last = candidates.last else { return .none(.noSimilarClick) }
    links.recent.remove(candidates.map(\.click))
    return attributed(last.proof, to: installation, by: .similarClicks(candidates.count))
  }

  // MARK: Payloads

  private func attributed(_ proof: LinkProof, to installation: Installation, by evidence: InstallAttribution.Evidence)
    -> InstallAttribution
  {
    if let key = proof.key {
      let (platform, now) = (platform(of: installation.bundleID, parameters: proof.parameters), links.clock.now())
      links.counter.count(.firstOpen, of: key, on: platform, at: now)
      if platform == .android, evidence == .provenClick { links.counter.count(.install, of: key, on: platform, at: now) }
    }
    return .link(payload(proof, for: installation.bundleID, isProven: evidence == .provenClick), evidence)
  }

  private func payload(_ proof: LinkProof, for bundleID: String, isProven: Bool) -> LinkPayload {
    let opening = LinkOpening(proof.parameters, address: proof.record?.address ?? proof.longLink, settings: links.settings)
    let isAndroid = platform(of: bundleID, parameters: proof.parameters) == .android
    let destination = isAndroid ? opening.androidDestination : opening.destination
    return LinkPayload(
      deepLink: isProven ? destination : withoutInviter(destination), requestedLink: isProven ? opening.address : nil,
      resolvedLink: isProven ? proof.longLink : nil, invitation: isProven ? proof.record?.invite : nil,
      parameters: proof.parameters, iosFallback: opening.iosFallbackURL(on: .iphone))
  }

  private func platform(of bundleID: String, parameters: LinkParameters) -> LinkPlatform {
    let settings = links.settings
    if parameters[.androidPackage] == bundleID, settings.iosApp(bundleID) == nil || parameters[.iosBundle] != bundleID {
      return .android
    }
    return settings.androidApp(bundleID) != nil && settings.iosApp(bundleID) == nil ? .android : .ios
  }

  private func withoutInviter(_ text: String) -> String {
    guard let url = LinkURL(text), let query = url.query else { return text }
    let names = Set(links.settings.referral.inviterParameters)
    let kept = query.split(separator: "&").filter { piece in
      !names.contains(PercentEncoding.decode(piece.split(separator: "=").first ?? "") ?? "")
    }
    let base = "\(url.scheme)://\(url.host)\(url.port)\(url.path)"
    return kept.isEmpty ? base : "\(base)?\(kept.joined(separator: "&"))"
  }
}
