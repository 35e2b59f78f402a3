import Crypto
package import StorageCore
import TextFormats
import TreeModel

/// Which links an inviter, or a campaign, has, and who came by a link, or by an inviter: records beside those of links and
/// claims, put and removed in the same commit.
///
/// The index holds nothing that those records do not say, so ``LinkDirectory/buildIndex()`` can make it again at any time.
enum LinkIndex {
  /// What a key begins with.
  enum List {
    case linksOfInviter(String)
    case linksOfCampaign(String)
    case playersByLink(String)
    case playersByInviter(String)

    var prefix: String {
      switch self {
      case .linksOfInviter(let inviter): "owner/\(inviter)/"
      // Campaigns and long links may be longer than keys should be.
      case .linksOfCampaign(let campaign): "campaign/\(Self.digest(campaign))/"
      case .playersByLink(let link): "came/\(Self.digest(link))/"
      case .playersByInviter(let inviter): "from/\(inviter)/"
      }
    }

    private static func digest(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
  }

  static func keys(of link: LinkRecord, settings: LinkSettings) -> Set<String> {
    let parameters = link.parameters ?? LinkParameters()
    var keys: Set<String> = []
    if let inviter = link.owner ?? LinkClaims.inviter(in: parameters, settings: settings) {
      keys.insert(List.linksOfInviter(inviter).prefix + link.key)
    }
    if let campaign = parameters[.utmCampaign] { keys.insert(List.linksOfCampaign(campaign).prefix + link.key) }
    return keys
  }

  static func keys(of claim: LinkClaim) -> Set<String> {
    var keys: Set<String> = [List.playersByInviter(claim.inviter).prefix + claim.player]
    if !claim.link.isEmpty { keys.insert(List.playersByLink(claim.link).prefix + claim.player) }
    return keys
  }

  static func changes(from before: Set<String>, to after: Set<String>) -> [KeyedRecordChange] {
    before.subtracting(after).sorted().map { KeyedRecordChange(kind: LinkService.Kind.index, key: $0, value: nil) }
      + after.subtracting(before).sorted().map { KeyedRecordChange(kind: LinkService.Kind.index, key: $0, value: "true") }
  }
}

/// Finds links, and who came by them, in the index; and makes it.
package struct LinkDirectory: Sendable {
  let links: LinkService

  /// Which links are wanted: all of what is set must be true.
  package struct Filter: Sendable {
    /// In the address, the name, the code or the long link; capitals do not count.
    package var text: String?
    package var inviter: String?
    package var campaign: String?

    package init(text: String? = nil, inviter: String? = nil, campaign: String? = nil) {
      self.text = text
      self.inviter = inviter
      self.campaign = campaign
    }
  }

  /// A part of the links.
  package struct Page: Sendable {
    package var links: [LinkRecord] = []
    /// Where to go on; nil if all were looked at.
    package var next: String?
    /// So many links were looked at.
    package var scanned = 0
  }

  /// So many links are looked at for one page.
  package static let scanMax = 5000
  private static let pageSize = 500

  /// Links by address, after a key: at most `limit`, of at most ``scanMax`` that are looked at.
  package func links(where filter: Filter = Filter(), after key: String? = nil, limit: Int) throws -> Page {
    let list: LinkIndex.List? =
      filter.inviter.map { .linksOfInviter($0) } ?? filter.campaign.map { .linksOfCampaign($0) }
    let (text, settings) = (filter.text?.lowercased(), links.settings)
    return try links.read { (snapshot, namespace) -> Page in
      var page = Page()
      page.next = key
      while page.scanned < Self.scanMax {
        let found = try records(of: list, after: page.next, limit: Self.pageSize, snapshot: snapshot, in: namespace)
        for record in found.records {
          if page.links.count == limit { return page }
          page.scanned += 1
          page.next = record.key
          if Self.matches(record, where: filter, text: text, settings: settings) { page.links.append(record) }
        }
        if found.isLast {
          page.next = nil
          return page
        }
        page.next = found.last
      }
      return page
    } ?? Page()
  }

  private func records(
    of list: LinkIndex.List?, after key: String?, limit: Int, snapshot: any Snapshot, in namespace: NamespaceID
  ) throws -> (records: [LinkRecord], last: String?, isLast: Bool) {
    guard let list else {
      let rows = try snapshot.records(in: namespace, kind: LinkService.Kind.link, after: key, isDescending: false, limit: limit)
      return (rows.compactMap { LinkRecord(key: $0.key, stored: $0.value) }, rows.last?.key, rows.count < limit)
    }
    let keys = try Self.names(in: list, after: key, limit: limit, snapshot: snapshot, in: namespace)
    let records = try keys.compactMap { key in
      try snapshot.record(in: namespace, kind: LinkService.Kind.link, key: key).flatMap { LinkRecord(key: key, stored: $0) }
    }
    return (records, keys.last, keys.count < limit)
  }

  /// What stands behind the beginning of a list's keys.
  private static func names(
    in list: LinkIndex.List, after name: String?, limit: Int, snapshot: any Snapshot, in namespace: NamespaceID
  ) throws -> [String] {
    let prefix = list.prefix
    return try snapshot.records(
      in: namespace, kind: LinkService.Kind.index, after: prefix + (name ?? ""), isDescending: false, limit: limit
    ).prefix { $0.key.utf8.starts(with: prefix.utf8) }.map { String(Substring($0.key.utf8.dropFirst(prefix.utf8.count))) }
  }

  private static func matches(_ link: LinkRecord, where filter: Filter, text: String?, settings: LinkSettings) -> Bool {
    let keys = LinkIndex.keys(of: link, settings: settings)
    if let inviter = filter.inviter, !keys.contains(LinkIndex.List.linksOfInviter(inviter).prefix + link.key) { return false }
    if let campaign = filter.campaign, !keys.contains(LinkIndex.List.linksOfCampaign(campaign).prefix + link.key) {
      return false
    }
    guard let text else { return true }
    return [link.address, link.name, link.code, link.longLink, link.parameters?[.link], link.parameters?[.socialTitle]]
      .contains { $0?.lowercased().firstRange(of: text) != nil }
  }

  /// Who came by links, or by an inviter, with what proved it.
  ///
  /// - Parameters:
  ///   - keys: prefix and suffix of each, or whole long links.
  ///   - inviter: instead of keys: everybody who came by this player.
  ///   - limit: at most so many.
  package func claims(by keys: [String], orInviter inviter: String?, limit: Int) throws -> [LinkClaim] {
    let lists: [LinkIndex.List] = inviter.map { [.playersByInviter($0)] } ?? keys.map { .playersByLink($0) }
    return try links.read { (snapshot, namespace) -> [LinkClaim] in
      var claims: [LinkClaim] = []
      for list in lists {
        var last: String?
        while claims.count < limit {
          let names = try Self.names(
            in: list, after: last, limit: min(Self.pageSize, limit - claims.count), snapshot: snapshot, in: namespace)
          for name in names {
            guard let stored = try snapshot.record(in: namespace, kind: LinkService.Kind.claim, key: "player/\(name)"),
              let claim = LinkClaim(stored: stored)
            else { continue }
            claims.append(claim)
          }
          guard let end = names.last else { break }
          last = end
        }
      }
      return claims
    } ?? []
  }

  /// The counts of links from a moment on; what was counted until now is among them.
  package func counts(of keys: [String], since time: Int64) async throws -> [LinkCount] {
    try await links.flush()
    return try links.read { snapshot, namespace in
      try keys.flatMap { try snapshot.linkCounts(in: namespace, of: $0, since: time / 86_400_000) }
    } ?? []
  }

  // MARK: Building

  /// Makes the index where it is missing, or was made by other settings.
  ///
  /// - Returns: whether it had to be made.
  package func buildIndex() async throws -> Bool {
    guard links.home.known() != nil else { return false }
    let mark = JSON.array(links.settings.referral.inviterParameters.map(JSON.string)).compactText
    guard try links.stored(LinkService.Kind.indexMark, key: "1") != mark else { return false }
    try await clear()
    try await fill(from: LinkService.Kind.link) { [settings = links.settings] row in
      LinkRecord(key: row.key, stored: row.value).map { LinkIndex.keys(of: $0, settings: settings) } ?? []
    }
    try await fill(from: LinkService.Kind.claim) { row in
      guard row.key.hasPrefix("player/") else { return [] }
      return LinkClaim(stored: row.value).map { LinkIndex.keys(of: $0) } ?? []
    }
    try await links.commit([KeyedRecordChange(kind: LinkService.Kind.indexMark, key: "1", value: mark)])
    return true
  }

  private func clear() async throws {
    while true {
      let page = try page(of: LinkService.Kind.index, after: nil)
      if page.isEmpty { return }
      try await links.commit(page.map { KeyedRecordChange(kind: LinkService.Kind.index, key: $0.key, value: nil) })
    }
  }

  private func fill(from kind: String, keys: (KeyedRecord) -> Set<String>) async throws {
    var last: String?
    while true {
      let page = try page(of: kind, after: last)
      guard let end = page.last?.key else { return }
      let changes = LinkIndex.changes(from: [], to: page.reduce(into: []) { $0.formUnion(keys($1)) })
      if !changes.isEmpty { try await links.commit(changes) }
      last = end
    }
  }

  private func page(of kind: String, after key: String?) throws -> [KeyedRecord] {
    try links.read { snapshot, namespace in
      try snapshot.records(in: namespace, kind: kind, after: key, isDescending: false, limit: Self.pageSize)
    } ?? []
  }
}
