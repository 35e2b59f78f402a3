import StorageCore
import TreeModel

/// Joining links to rewards: a proven click, or a code, writes who invited the player. Clients cannot: the server does it,
/// on the word of its own proof.
extension LinkBook {
  /// What a player presents.
  public enum Presented: Sendable, Hashable {
    /// A link with its proof: the text of the clipboard, or the link that opened the app.
    case link(String)
    /// The referrer that Google's store handed over.
    case referrer(String)
    /// What was typed.
    case code(String)
  }

  /// Claims a link for a player: once for each player, once for each click.
  ///
  /// - Parameters:
  ///   - player: who claims, by the credentials of the request.
  ///   - address: the client's, for the limit of tries.
  /// - Returns: the claim; the same again if the player makes it again.
  /// - Throws: ``LinkFault`` with a reason for programs: `bad_proof`, `used`, `no_inviter`, `self_referral`, `existing_user`,
  ///   `already_referred`.
  public func claim(_ presented: Presented, for player: String, address: String?) async throws(LinkFault) -> LinkClaim {
    guard Self.isPlayer(player) else { throw .invalid("\(player.prefix(80)) cannot be a player's key.") }
    let (proof, evidence) = try await evidence(presented, player: player, address: address)
    let settings = settings
    guard let inviter = proof.record?.owner ?? Self.inviter(in: proof.parameters, settings: settings) else {
      throw LinkFault(.failedPrecondition, "Nobody invites with this link.", reason: "no_inviter")
    }
    let claim = LinkClaim(
      player: player, inviter: inviter, link: proof.key ?? proof.longLink, evidence: evidence, at: clock.now())
    if inviter == player {
      try await recordFraud(claim)
      throw LinkFault(.failedPrecondition, "Nobody can invite themselves.", reason: "self_referral")
    }
    if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, claim) }
    try checkIsNew(player, settings.referral)
    let path = try Self.path(settings.referral.path, player)
    do throws(LinkFault) {
      try await commit { request in
        request.requestID = claim.requestID
        request.expectations = [CommitRequest.Expectation(path: path, node: .absent)]
        request.operations = [.set(path, TreeNode.leaf(.string(inviter)))]
        request.records = changes(claim, proof)
      }
    } catch  where error.reason == "stale" {
      throw LinkFault(.alreadyExists, "Somebody is already recorded as having invited this player.", reason: "already_referred")
    } catch  where error.reason == Self.changed {
      if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, claim) }
      throw LinkFault(.alreadyExists, "This click was claimed by another player.", reason: "used")
    }
    return claim
  }

  /// What is on record of how a player came; nil if nothing is.
  public func claim(of player: String) throws(LinkFault) -> LinkClaim? {
    let value = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.claim, key: "player/\(player)")
    }
    return value.flatMap { $0 }.flatMap { LinkClaim(stored: $0) }
  }

  private static func repeated(_ earlier: LinkClaim, _ claim: LinkClaim) throws(LinkFault) -> LinkClaim {
    guard earlier.inviter == claim.inviter else {
      throw LinkFault(.alreadyExists, "Somebody is already recorded as having invited this player.", reason: "already_referred")
    }
    return earlier
  }

  private func changes(_ claim: LinkClaim, _ proof: LinkProof) -> [RoomChange] {
    let value = claim.json.text
    var changes = [RoomChange(kind: Kind.claim, key: "player/\(claim.player)", value: value, expecting: .absent)]
    if case .click(let id, _, _) = claim.evidence {
      changes.append(RoomChange(kind: Kind.claim, key: "click/\(id)", value: value, expecting: .absent))
    }
    if let invite = proof.record?.invite {
      changes.append(RoomChange(kind: Kind.mark, key: "\(invite)/converted", value: "{\"at\":\(claim.at)}"))
    }
    return changes
  }

  // MARK: Evidence

  private func evidence(_ presented: Presented, player: String, address: String?) async throws(LinkFault)
    -> (LinkProof, LinkClaim.Evidence)
  {
    switch presented {
    case .link(let text): return try await clicked(text)
    case .referrer(let text):
      guard let link = Self.presented(referrer: text) else {
        throw LinkFault(.invalidArgument, "The referrer holds no link and no click of this server.", reason: "bad_proof")
      }
      return try await clicked(link)
    case .code(let text):
      let now = clock.now()
      let limit = settings.limits.codesPerMinute
      guard !isLimited || codeTries.admits("player/\(player)", limit: limit, at: now),
        !isLimited || codeTries.admits("address/\(address ?? "")", limit: limit * 4, at: now)
      else { throw LinkFault(.resourceExhausted, "Too many codes were tried; wait a minute.") }
      return try await typed(text)
    }
  }

  private func clicked(_ text: String) async throws(LinkFault) -> (LinkProof, LinkClaim.Evidence) {
    guard let proof = try await proof(text), let click = proof.click else {
      throw LinkFault(
        .invalidArgument, "The link comes without the proof of a click, or with one that is not good or too old.",
        reason: "bad_proof")
    }
    return (proof, .click(id: click.id, at: click.time, platform: click.platform))
  }

  private func typed(_ text: String) async throws(LinkFault) -> (LinkProof, LinkClaim.Evidence) {
    guard let code = LinkSuffix.normalizedCode(text) else {
      throw LinkFault(.notFound, "No invitation has this code; look at it again.", reason: "bad_proof")
    }
    let key = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.code, key: code)
    }
    guard let key = key.flatMap({ $0 }), let proof = try await proof("https://\(key)") else {
      throw LinkFault(.notFound, "No invitation has this code; look at it again.", reason: "bad_proof")
    }
    return (proof, .code(code))
  }

  // MARK: The player

  /// Whether a text can be a player's key in the tree.
  static func isPlayer(_ text: String) -> Bool { (try? Key(text)) != nil && text.utf8.count <= 128 }

  private static func path(_ pattern: String, _ player: String) throws(LinkFault) -> Path {
    do {
      return try PathPattern(parsing: pattern).path(filling: [player])
    } catch {
      throw LinkFault(.failedPrecondition, "The path \(pattern) of the link settings cannot be filled: \(error)")
    }
  }

  /// Refuses a player who was there before the invitation: who had signed in when the time for a claim began, or whose last
  /// sign-in is older still, as an imported player's may be.
  ///
  /// The value alone would not do: players write it anew at every sign-in.
  private func checkIsNew(_ player: String, _ referral: LinkSettings.Referral) throws(LinkFault) {
    let path = PathBytes(try Self.path(referral.signedInPath, player))
    let begin = clock.now() - referral.claimWithin
    let isOld = try looking { (snapshot, namespace) throws(StorageError) in
      guard let stored = try snapshot.leaf(in: namespace, at: path) else { return false }
      if case .int(let signedInAt) = stored.leaf.scalar, signedInAt < begin { return true }
      let revision = try snapshot.revision(in: namespace, at: begin)
      return try !snapshot.leaves(in: namespace, under: path, asOf: revision, limit: 1).isEmpty
    }
    guard isOld == true else { return }
    throw LinkFault(
      .failedPrecondition, "The player was here before the invitation; only new players can be invited.",
      reason: "existing_user")
  }

  /// Notes an attempt to invite oneself in the audit log.
  private func recordFraud(_ claim: LinkClaim) async throws(LinkFault) {
    let record = AuditRecord(
      time: clock.now(), actor: .system("links"), action: "links.self_referral", detail: claim.json.text, result: "refused")
    try await commit { request in request.audit = record }
  }
}

extension LinkClaim {
  /// Reads what ``json`` wrote; nil if it is damaged.
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
