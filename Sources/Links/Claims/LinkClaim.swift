import StorageCore
import TreeModel

/// Who invited whom, and what proves it: the evidence that is kept of a claim, for ever.
package struct LinkClaim: Sendable, Hashable {
  /// How a player showed where they come from.
  package enum Evidence: Sendable, Hashable {
    /// By the proof of a click.
    case click(id: String, at: Int64, platform: LinkPlatform)
    /// By typing the code.
    case code(String)
  }

  /// The player who was invited.
  package let player: String
  /// The player who invited: what is written to `referred_by`.
  package let inviter: String
  /// The link: prefix and suffix, or a whole long link.
  package let link: String
  /// What it rests on.
  package let evidence: Evidence
  /// In milliseconds since 1970.
  package let at: Int64

  /// What the claim is called in the log: the request id of its commit.
  var requestID: String {
    switch evidence {
    case .click(let id, _, _): "click/\(id)"
    case .code(let code): "code/\(code)"
    }
  }
}

extension LinkClaim {
  /// The stored form.
  var stored: String {
    var members: [JSON.Member] = [
      .init(key: "player", value: .string(player)), .init(key: "inviter", value: .string(inviter)),
      .init(key: "link", value: .string(link)), .init(key: "at", value: .int(at)),
    ]
    switch evidence {
    case .click(let id, let time, let platform):
      members.append(.init(key: "how", value: "click"))
      members.append(.init(key: "click", value: .string(id)))
      members.append(.init(key: "clickedAt", value: .int(time)))
      members.append(.init(key: "platform", value: .string(platform.rawValue)))
    case .code(let code):
      members.append(.init(key: "how", value: "code"))
      members.append(.init(key: "code", value: .string(code)))
    }
    return JSON.object(members).compactText
  }

  /// Reads the stored form; nil if it is damaged.
  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let player = json["player"]?.string, let inviter = json["inviter"]?.string,
      let link = json["link"]?.string, let at = json["at"]?.int
    else { return nil }
    if let id = json["click"]?.string, let time = json["clickedAt"]?.int,
      let platform = json["platform"]?.string.flatMap(LinkPlatform.init)
    {
      self.init(player: player, inviter: inviter, link: link, evidence: .click(id: id, at: time, platform: platform), at: at)
    } else if let code = json["code"]?.string {
      self.init(player: player, inviter: inviter, link: link, evidence: .code(code), at: at)
    } else {
      return nil
    }
  }
}

/// Joins links to rewards: a proven click, or a code, makes the server write who invited the player. Security rules need not let
/// clients write it: the server relies on its own proof only.
package struct LinkClaims: Sendable {
  /// What a player presents.
  package enum Presented: Sendable, Hashable {
    /// A link with its proof: the text of the clipboard, or the link that opened the app.
    case link(String)
    /// The referrer of Google's store.
    case referrer(String)
    /// What was typed.
    case code(String)
  }

  let links: LinkService

  /// Claims a link for a player: once for each player, once for each click.
  ///
  /// - Parameters:
  ///   - presented: what shows which link it was.
  ///   - player: who claims, by the credentials of the request.
  ///   - address: the client's, for the limit of tries.
  /// - Returns: the claim; the same again if the player makes it again.
  /// - Throws: ``LinkError``.
  package func claim(_ presented: Presented, for player: String, address: String?) async throws -> LinkClaim {
    guard Self.isPlayer(player) else { throw LinkError.invalid("\(player.prefix(80)) cannot be a player's key.") }
    let (proof, evidence) = try await evidence(presented, player: player, address: address)
    let settings = links.settings
    guard let inviter = proof.record?.owner ?? Self.inviter(in: proof.parameters, settings: settings) else {
      throw LinkError.noInviter
    }
    let claim = LinkClaim(
      player: player, inviter: inviter, link: proof.key ?? proof.longLink, evidence: evidence, at: links.clock.now())
    if inviter == player {
      try await recordFraud(claim)
      throw LinkError.selfReferral
    }
    if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, by: claim) }
    try checkIsNew(player, referral: settings.referral)
    let path = try Self.path(settings.referral.path, player)
    let outcome = try await links.commit { request in
      request.log.requestID = claim.requestID
      request.preconditions.expectations = [CommitRequest.Expectation(path: path, node: .absent)]
      request.operations = [.set(path, TreeNode.leaf(.string(inviter)))]
      request.rows.records = changes(claim, proof: proof)
    }
    switch outcome {
    case .committed: return claim
    case .leafChanged: throw LinkError.alreadyReferred
    case .recordChanged:
      if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, by: claim) }
      throw LinkError.clickUsed
    }
  }

  /// What is on record of how a player came; nil if nothing is.
  package func claim(of player: String) throws -> LinkClaim? {
    try links.stored(LinkService.Kind.claim, key: "player/\(player)").flatMap { LinkClaim(stored: $0) }
  }

  private static func repeated(_ earlier: LinkClaim, by claim: LinkClaim) throws -> LinkClaim {
    guard earlier.inviter == claim.inviter else { throw LinkError.alreadyReferred }
    return earlier
  }

  private func changes(_ claim: LinkClaim, proof: LinkProof) -> [KeyedRecordChange] {
    let (kind, value) = (LinkService.Kind.claim, claim.stored)
    var changes = [KeyedRecordChange(kind: kind, key: "player/\(claim.player)", value: value, expecting: .absent)]
    changes += LinkIndex.changes(from: [], to: LinkIndex.keys(of: claim))
    if case .click(let id, _, _) = claim.evidence {
      changes.append(KeyedRecordChange(kind: kind, key: "click/\(id)", value: value, expecting: .absent))
    }
    if let invite = proof.record?.invite {
      changes.append(
        KeyedRecordChange(kind: LinkService.Kind.mark, key: "\(invite)/converted", value: "{\"at\":\(claim.at)}"))
    }
    return changes
  }

  // MARK: Evidence

  private func evidence(_ presented: Presented, player: String, address: String?) async throws
    -> (LinkProof, LinkClaim.Evidence)
  {
    switch presented {
    case .link(let text): return try await clicked(text)
    case .referrer(let text):
      guard let link = LinkAttribution.link(referrer: text) else { throw LinkError.badReferrer }
      return try await clicked(link)
    case .code(let text):
      try links.countCode(of: player, address: address)
      return try await typed(text)
    }
  }

  private func clicked(_ text: String) async throws -> (LinkProof, LinkClaim.Evidence) {
    guard let proof = try await LinkProof.find(text, in: links), let click = proof.click else { throw LinkError.badProof }
    return (proof, .click(id: click.id, at: click.time, platform: click.platform))
  }

  private func typed(_ text: String) async throws -> (LinkProof, LinkClaim.Evidence) {
    guard let code = LinkSuffix.normalizedCode(text), let key = try links.stored(LinkService.Kind.code, key: code),
      let proof = try await LinkProof.find("https://\(key)", in: links)
    else { throw LinkError.unknownCode }
    return (proof, .code(code))
  }

  // MARK: The player

  /// The player who invites with a link that has no owner: a parameter of the URL that it opens.
  package static func inviter(in parameters: LinkParameters, settings: LinkSettings) -> String? {
    guard let query = parameters.web(.link)?.parameters else { return nil }
    for name in settings.referral.inviterParameters {
      if let value = query.first(where: { $0.name == name })?.value, isPlayer(value) { return value }
    }
    return nil
  }

  /// Whether a text can be a player's key in the tree.
  package static func isPlayer(_ text: String) -> Bool { (try? Key(text)) != nil && text.utf8.count <= 128 }

  private static func path(_ pattern: String, _ player: String) throws -> Path {
    do {
      return try PathPattern(parsing: pattern).path(filling: [player])
    } catch {
      throw LinkError.referralPath(pattern, reason: "\(error)")
    }
  }

  /// Refuses a player who was there before the invitation: one who had signed in when the time for a claim began, or whose last
  /// sign-in is older still, as an imported player's may be.
  ///
  /// The value alone would not do: a client writes it at every sign-in.
  private func checkIsNew(_ player: String, referral: LinkSettings.Referral) throws {
    let path = PathBytes(try Self.path(referral.signedInPath, player))
    let begin = links.clock.now() - referral.claimWithin
    let isOld = try links.read { snapshot, namespace in
      guard let stored = try snapshot.leaf(in: namespace, at: path) else { return false }
      if case .int(let signedInAt) = stored.leaf.scalar, signedInAt < begin { return true }
      let revision = try snapshot.revision(in: namespace, at: begin)
      return try !snapshot.leaves(in: namespace, under: path, asOf: revision, limit: 1).isEmpty
    }
    if isOld == true { throw LinkError.existingPlayer }
  }

  /// Notes an attempt to invite oneself in the audit log.
  private func recordFraud(_ claim: LinkClaim) async throws {
    let record = AuditRecord(
      time: claim.at, actor: .system("links"), action: "links.self_referral", detail: claim.stored, result: "refused")
    try await links.commit { request in request.log.audit = record }
  }
}
