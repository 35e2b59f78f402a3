import Crypto
package import StorageCore
import Synchronization
import TextFormats
import TreeModel

extension LinkService {
  /// A link that was created, or was there.
  package struct Created: Sendable {
    package let record: LinkRecord
    /// Warnings about the link.
    package let warnings: [LinkWarning]
    /// Whether an equal one was there before.
    package let isRepeated: Bool
  }

  /// Creates a short link, or finds the one that an equal request made.
  ///
  /// - Parameters:
  ///   - link: what it is to say and how it is to be called.
  ///   - isAdmin: whether the suffix may be chosen.
  ///   - actor: who asks, for the log.
  /// - Throws: ``LinkError``; nothing was created.
  package func create(_ link: LinkDraft, isAdmin: Bool, actor: Actor) async throws -> Created {
    let warnings = try LinkChecker(settings: settings).check(
      link.parameters, below: link.prefix, hasFragment: link.hasFragment)
    if link.option == .custom { try Self.checkSuffix(of: link, isAdmin: isAdmin) }
    let duplicateKey = link.mayBeDuplicate ? Self.duplicateKey(link) : nil
    for attempt in 0..<64 {
      if let duplicateKey, let record = try duplicate(duplicateKey) {
        return try await repeated(record, link: link, warnings: warnings, actor: actor)
      }
      let record = newRecord(link, attempt: attempt)
      let changes =
        Self.changes(record, duplicateKey: duplicateKey) + (try disabledFormChanges(from: nil, to: record))
        + LinkIndex.changes(from: [], to: LinkIndex.keys(of: record, settings: settings))
      switch try await commit(changes, actor: actor) {
      case .committed: return Created(record: record, warnings: warnings, isRepeated: false)
      // The invitation code may be taken instead of the suffix: another draw helps.
      case .recordChanged(let kind) where link.option == .custom && kind == Kind.link:
        throw LinkError.suffixTaken(link.customSuffix ?? "")
      // The suffix or the code is taken, or an equal link was created a moment ago.
      case .recordChanged, .leafChanged: continue
      }
    }
    throw LinkError.unavailable("No free suffix was found; try again.")
  }

  /// The link that an equal request made. A name that an administrator gives now is its name from now on.
  private func repeated(_ record: LinkRecord, link: LinkDraft, warnings: [LinkWarning], actor: Actor) async throws
    -> Created
  {
    guard record.disabledAt == nil else { throw LinkError.duplicateIsDisabled(address: record.address) }
    var record = record
    if let name = link.name, name != record.name {
      record = try await edit(record.key, edit: LinkEdit(name: .some(name)), actor: actor).record
    }
    return Created(record: record, warnings: warnings, isRepeated: true)
  }

  private static func checkSuffix(of link: LinkDraft, isAdmin: Bool) throws {
    guard isAdmin else { throw LinkError.suffixNeedsAdministrator }
    guard let suffix = link.customSuffix, LinkSuffix.isCustom(suffix) else {
      throw LinkError.invalid(
        "customSuffix must be 1 to \(LinkSuffix.lengthMax) letters, digits, - and _, and none of the words that lead elsewhere (i, link, v1, admin)."
      )
    }
  }

  /// The key by which equal requests find one link.
  private static func duplicateKey(_ link: LinkDraft) -> String {
    duplicateKey(prefix: link.prefix, canonical: link.parameters.canonical, option: link.option, owner: link.owner)
  }

  static func duplicateKey(prefix: LinkPrefix, canonical: String, option: LinkSuffix.Option, owner: String?) -> String {
    let text = [prefix.key, canonical, option.rawValue, owner ?? ""].joined(separator: "\n")
    return Hex.encode(SHA256.hash(data: Array(text.utf8)))
  }

  private func duplicate(_ duplicateKey: String) throws -> LinkRecord? {
    try read { (snapshot, namespace) -> LinkRecord? in
      guard let key = try snapshot.record(in: namespace, kind: Kind.same, key: duplicateKey),
        let value = try snapshot.record(in: namespace, kind: Kind.link, key: key)
      else { return nil }
      return LinkRecord(key: key, stored: value)
    } ?? nil
  }

  private func newRecord(_ link: LinkDraft, attempt: Int) -> LinkRecord {
    // If eight draws in a row are taken, the space is practically full.
    if link.option == .short, attempt > 0, attempt % 8 == 0 { shortLength += 1 }
    let length = shortLength
    let (suffix, code) = random.withLock { random in
      let suffix =
        switch link.option {
        case .unguessable: LinkSuffix.unguessable(using: &random)
        case .short: LinkSuffix.short(length, using: &random)
        case .custom: link.customSuffix ?? ""
        }
      return (suffix, LinkSuffix.code(using: &random))
    }
    let owner = link.owner ?? LinkClaims.inviter(in: link.parameters, settings: settings)
    var record = LinkRecord(
      key: link.prefix.key + (link.invite == nil ? "/" : "/i/") + suffix, canonical: link.parameters.canonical,
      option: link.option, createdAt: link.createdAt ?? clock.now(), name: link.name, owner: link.owner,
      code: owner == nil ? nil : code, invite: link.invite)
    record.disabledAt = link.isDisabled ? clock.now() : nil
    return record
  }

  private static func changes(_ record: LinkRecord, duplicateKey: String?) -> [KeyedRecordChange] {
    var changes = [
      KeyedRecordChange(kind: Kind.link, key: record.key, value: record.stored, expecting: .absent),
      // The suffix of a deleted link is never drawn again; an administrator may choose it.
      KeyedRecordChange(
        kind: Kind.deleted, key: record.key, value: nil, expecting: record.option == .custom ? .anything : .absent),
    ]
    if let duplicateKey {
      changes.append(KeyedRecordChange(kind: Kind.same, key: duplicateKey, value: record.key, expecting: .absent))
    }
    if let code = record.code {
      changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: record.key, expecting: .absent))
    }
    return changes
  }

  /// The record of a link, however it is written: short, with or without `https://` and parameters of an opening.
  package func record(_ text: String) throws -> LinkRecord? {
    guard let key = Self.key(text) else { return nil }
    return try entry(key)?.record
  }

  /// The record of the link that has an invitation code, written as a person may type it; nil for what is no code, or nobody's.
  package func record(code text: String) throws -> LinkRecord? {
    guard let code = LinkSuffix.normalizedCode(text), let key = try stored(Kind.code, key: code) else { return nil }
    return try entry(key)?.record
  }

  /// Prefix and suffix of a short link.
  static func key(_ text: String) -> String? {
    var address = text
    if text.hasPrefix("https:/"), !text.hasPrefix("https://") {
      // Its slashes were folded on the way through a path.
      address = "https://" + text.dropFirst(7)
    } else if text.firstRange(of: "://") == nil {
      address = "https://\(text)"
    }
    guard let url = LinkURL(address) else { return nil }
    let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    return path.isEmpty ? nil : url.host + url.port + path
  }

  /// The counts of a link for the last days.
  package func counts(of key: String, days: Int64) async throws -> [LinkCount] {
    try await flush()
    let since = clock.now() / 86_400_000 - days + 1
    return try read { snapshot, namespace in
      try snapshot.linkCounts(in: namespace, of: key, since: since)
    } ?? []
  }

  /// Imports rows, each with the suffix that it had.
  ///
  /// - Parameters:
  ///   - rows: of one table or several.
  ///   - prefix: where the links are to live; nil: under the prefix of their own address, which must be the project's.
  ///   - isDryRun: only says what would become of each.
  ///   - actor: who imports, for the log.
  package func importRows(_ rows: [LinkImport.Row], under prefix: LinkPrefix?, isDryRun: Bool, actor: Actor) async throws
    -> [(row: LinkImport.Row, outcome: LinkImport.Outcome)]
  {
    let importer = LinkImporter(links: self, prefix: prefix, isDryRun: isDryRun, actor: actor)
    return Array(zip(rows, try await importer.outcomes(of: rows)))
  }

  /// Whether another link may be created now; if so it counts.
  package func admitsCreation(address: String?, key: String, at time: Int64) -> Bool {
    guard isLimited else { return true }
    let limits = settings.limits
    return creations.admits(address ?? "", limit: limits.createPerSecond, at: time)
      && dailyCreations.admits(key, limit: limits.createPerDay, at: time)
  }

  /// Counts a try of an invitation code.
  ///
  /// - Throws: ``LinkError/tooManyCodes`` beyond the limits of the player or of the client's network.
  func countCode(of player: String, address: String?) throws {
    guard isLimited else { return }
    let (now, limit) = (clock.now(), settings.limits.codesPerMinute)
    guard codeTries.admits("player/\(player)", limit: limit, at: now),
      codeTries.admits("address/\(address ?? "")", limit: limit * 4, at: now)
    else { throw LinkError.tooManyCodes }
  }
}

/// A link that is to be created.
package struct LinkDraft: Sendable {
  /// Where the link is to live.
  package let prefix: LinkPrefix
  /// What it is to say.
  package let parameters: LinkParameters
  /// How its suffix is chosen.
  package var option = LinkSuffix.Option.unguessable
  /// For ``LinkSuffix/Option/custom``.
  package var customSuffix: String?
  /// What an administrator calls it.
  package var name: String?
  /// The player who invites with it.
  package var owner: String?
  /// The invitation that it is made for; such a link is no duplicate of another, and lies below `i/`.
  package var invite: String?
  /// When it was created elsewhere; nil: now.
  package var createdAt: Int64?
  /// Whether it begins switched off: it was so where it comes from.
  package var isDisabled = false
  /// Whether its long form came with a fragment, which has no effect.
  package let hasFragment: Bool

  package init(prefix: LinkPrefix, parameters: LinkParameters, hasFragment: Bool = false) {
    self.prefix = prefix
    self.parameters = parameters
    self.hasFragment = hasFragment
  }

  /// Whether an equal request gets the same link: not one whose suffix was chosen, nor an invitation's own.
  var mayBeDuplicate: Bool { option != .custom && invite == nil }
}

/// Counts how often somebody did something in a span of time. Bounded: of very many, the oldest spans are forgotten.
package final class RateWindow: Sendable {
  private let counts = Mutex<[String: (span: Int64, count: Int)]>([:])
  private let span: Int64
  private static let namesMax = 50_000

  /// - Parameter span: in milliseconds; each span counts from zero.
  package init(span: Int64) {
    self.span = span
  }

  /// Whether one more is within the limit; if so it counts.
  package func admits(_ name: String, limit: Int, at time: Int64) -> Bool {
    let now = time / span
    return counts.withLock { counts in
      if counts.count >= Self.namesMax { counts = counts.filter { $0.value.span == now } }
      if counts.count >= Self.namesMax { counts.removeAll() }
      let seen = counts[name]
      let count = seen?.span == now ? seen?.count ?? 0 : 0
      guard count < limit else { return false }
      counts[name] = (now, count + 1)
      return true
    }
  }
}
