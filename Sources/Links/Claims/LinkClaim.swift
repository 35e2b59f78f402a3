import StorageCore
package import TreeModel

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

  /// As it is stored, and shown beside the rewards that it led to.
  package var json: JSON {
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
    return .object(members)
  }

  /// What the claim is called in the log: the request id of its commit.
  var requestID: String {
    switch evidence {
    case .click(let id, _, _): "click/\(id)"
    case .code(let code): "code/\(code)"
    }
  }
}

/// Joining links to rewards: a proven click, or a code, writes who invited the player. Clients cannot: the server does it,
/// on the word of its own proof.
extension LinkService {
  /// What a player presents.
  package enum Presented: Sendable, Hashable {
    /// A link with its proof: the text of the clipboard, or the link that opened the app.
    case link(String)
    /// The referrer that Google's store handed over.
    case referrer(String)
    /// What was typed.
    case code(String)
  }

  /// Claims a link for a player: once for each player, once for each click.
  ///
  /// - `player`: who claims, by the credentials of the request.
  /// - `address`: the client's, for the limit of tries.
  /// - Returns: the claim; the same again if the player makes it again.
  /// - Throws: ``LinkError`` with a reason for programs: `bad_proof`, `used`, `no_inviter`, `self_referral`, `existing_user`,
  ///   `already_referred`.
  package func claim(_ presented: Presented, for player: String, address: String?) async throws(LinkError) -> LinkClaim {
    guard Self.isPlayer(player) else { throw .invalid("\(player.prefix(80)) cannot be a player's key.") }
    let (proof, evidence) = try await evidence(presented, player: player, address: address)
    let settings = settings
    guard let inviter = proof.record?.owner ?? Self.inviter(in: proof.parameters, settings: settings) else {
      throw LinkError(.failedPrecondition, "Nobody invites with this link.", reason: "no_inviter")
    }
    let claim = LinkClaim(
      player: player, inviter: inviter, link: proof.key ?? proof.longLink, evidence: evidence, at: clock.now())
    if inviter == player {
      try await recordFraud(claim)
      throw LinkError(.failedPrecondition, "Nobody can invite themselves.", reason: "self_referral")
    }
    if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, claim) }
    try checkIsNew(player, settings.referral)
    let path = try Self.path(settings.referral.path, player)
    do throws(LinkError) {
      try await commit { request in
        request.log.requestID = claim.requestID
        request.preconditions.expectations = [CommitRequest.Expectation(path: path, node: .absent)]
        request.operations = [.set(path, TreeNode.leaf(.string(inviter)))]
        request.rows.records = changes(claim, proof)
      }
    } catch  where error.reason == "stale" {
      throw LinkError(.alreadyExists, "Somebody is already recorded as having invited this player.", reason: "already_referred")
    } catch  where error.reason == Self.changed {
      if let earlier = try self.claim(of: player) { return try Self.repeated(earlier, claim) }
      throw LinkError(.alreadyExists, "This click was claimed by another player.", reason: "used")
    }
    return claim
  }

  /// What is on record of how a player came; nil if nothing is.
  package func claim(of player: String) throws(LinkError) -> LinkClaim? {
    let value = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.claim, key: "player/\(player)")
    }
    return value.flatMap { $0 }.flatMap { LinkClaim(stored: $0) }
  }

  private static func repeated(_ earlier: LinkClaim, _ claim: LinkClaim) throws(LinkError) -> LinkClaim {
    guard earlier.inviter == claim.inviter else {
      throw LinkError(.alreadyExists, "Somebody is already recorded as having invited this player.", reason: "already_referred")
    }
    return earlier
  }

  private func changes(_ claim: LinkClaim, _ proof: LinkProof) -> [KeyedRecordChange] {
    let value = claim.json.text
    var changes = [KeyedRecordChange(kind: Kind.claim, key: "player/\(claim.player)", value: value, expecting: .absent)]
    if case .click(let id, _, _) = claim.evidence {
      changes.append(KeyedRecordChange(kind: Kind.claim, key: "click/\(id)", value: value, expecting: .absent))
    }
    if let invite = proof.record?.invite {
      changes.append(KeyedRecordChange(kind: Kind.mark, key: "\(invite)/converted", value: "{\"at\":\(claim.at)}"))
    }
    return changes
  }

  // MARK: Evidence

  private func evidence(_ presented: Presented, player: String, address: String?) async throws(LinkError)
    -> (LinkProof, LinkClaim.Evidence)
  {
    switch presented {
    case .link(let text): return try await clicked(text)
    case .referrer(let text):
      guard let link = Self.presented(referrer: text) else {
        throw LinkError(.invalidArgument, "The referrer holds no link and no click of this server.", reason: "bad_proof")
      }
      return try await clicked(link)
    case .code(let text):
      let now = clock.now()
      let limit = settings.limits.codesPerMinute
      guard !isLimited || codeTries.admits("player/\(player)", limit: limit, at: now),
        !isLimited || codeTries.admits("address/\(address ?? "")", limit: limit * 4, at: now)
      else { throw LinkError(.resourceExhausted, "Too many codes were tried; wait a minute.") }
      return try await typed(text)
    }
  }

  private func clicked(_ text: String) async throws(LinkError) -> (LinkProof, LinkClaim.Evidence) {
    guard let proof = try await proof(text), let click = proof.click else {
      throw LinkError(
        .invalidArgument, "The link comes without the proof of a click, or with one that is not good or too old.",
        reason: "bad_proof")
    }
    return (proof, .click(id: click.id, at: click.time, platform: click.platform))
  }

  private func typed(_ text: String) async throws(LinkError) -> (LinkProof, LinkClaim.Evidence) {
    guard let code = LinkSuffix.normalizedCode(text) else {
      throw LinkError(.notFound, "No invitation has this code; look at it again.", reason: "bad_proof")
    }
    let key = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.code, key: code)
    }
    guard let key = key.flatMap({ $0 }), let proof = try await proof("https://\(key)") else {
      throw LinkError(.notFound, "No invitation has this code; look at it again.", reason: "bad_proof")
    }
    return (proof, .code(code))
  }

  // MARK: The player

  /// Whether a text can be a player's key in the tree.
  static func isPlayer(_ text: String) -> Bool { (try? Key(text)) != nil && text.utf8.count <= 128 }

  private static func path(_ pattern: String, _ player: String) throws(LinkError) -> Path {
    do {
      return try PathPattern(parsing: pattern).path(filling: [player])
    } catch {
      throw LinkError(.failedPrecondition, "The path \(pattern) of the link settings cannot be filled: \(error)")
    }
  }

  /// Refuses a player who was there before the invitation: who had signed in when the time for a claim began, or whose last
  /// sign-in is older still, as an imported player's may be.
  ///
  /// The value alone would not do: players write it anew at every sign-in.
  private func checkIsNew(_ player: String, _ referral: LinkSettings.Referral) throws(LinkError) {
    let path = PathBytes(try Self.path(referral.signedInPath, player))
    let begin = clock.now() - referral.claimWithin
    let isOld = try looking { (snapshot, namespace) throws(StorageError) in
      guard let stored = try snapshot.leaf(in: namespace, at: path) else { return false }
      if case .int(let signedInAt) = stored.leaf.scalar, signedInAt < begin { return true }
      let revision = try snapshot.revision(in: namespace, at: begin)
      return try !snapshot.leaves(in: namespace, under: path, asOf: revision, limit: 1).isEmpty
    }
    guard isOld == true else { return }
    throw LinkError(
      .failedPrecondition, "The player was here before the invitation; only new players can be invited.",
      reason: "existing_user")
  }

  /// Notes an attempt to invite oneself in the audit log.
  private func recordFraud(_ claim: LinkClaim) async throws(LinkError) {
    let record = AuditRecord(
      time: clock.now(), actor: .system("links"), action: "links.self_referral", detail: claim.json.text, result: "refused")
    try await commit { request in request.log.audit = record }
  }
}

extension LinkClaim {
  /// Reads what `json` wrote; nil if it is damaged.
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
