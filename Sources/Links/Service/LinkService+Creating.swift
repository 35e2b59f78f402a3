import Crypto
package import StorageCore
import Synchronization
import TextFormats
package import TreeModel

extension LinkService {
  /// A link that was created, or was there.
  package struct Created: Sendable {
    package let record: LinkRecord
    /// What is doubtful about it.
    package let warnings: [LinkWarning]
    /// Whether an equal one was there before.
    package let isRepeated: Bool
  }

  /// Creates a short link.
  ///
  /// - `isAdmin`: whether the suffix may be chosen.
  /// - Throws: ``LinkError``; nothing was created.
  package func create(_ order: LinkDraft, isAdmin: Bool, actor: Actor) async throws(LinkError) -> Created {
    let warnings = try LinkChecker(settings: settings).check(
      order.parameters, below: order.prefix, hasFragment: order.hasFragment)
    let same = Self.duplicateKey(order)
    if order.invite == nil, order.option != .custom, let record = try await existing(same) {
      return try await repeated(record, order, warnings, actor: actor)
    }
    if order.option == .custom { try Self.checkCustom(order, isAdmin: isAdmin) }
    var attempts = 0
    while true {
      let record = newRecord(order, attempt: attempts)
      let forms = try await disabledFormChanges(from: nil, to: record)
      do throws(LinkError) {
        try await commit { request in
          request.actor = actor
          request.rows.records = Self.changes(record, same: order.invite == nil && order.option != .custom ? same : nil) + forms
        }
        return Created(record: record, warnings: warnings, isRepeated: false)
      } catch  where error.reason == Self.changed {
        // Somebody has the suffix, or the code, or created the same link a moment ago.
        if order.invite == nil, order.option != .custom, let record = try await existing(same) {
          return try await repeated(record, order, warnings, actor: actor)
        }
        if order.option == .custom, error.message.hasPrefix("\(Kind.link)/") {
          throw LinkError(.alreadyExists, "The suffix \"\(order.customSuffix ?? "")\" is taken; choose another.")
        }
        attempts += 1
        guard attempts < 64 else { throw LinkError(.unavailable, "No free suffix was found; try again.") }
      }
    }
  }

  /// The link that an equal order made. A name that an administrator gives now is its name from now on.
  private func repeated(_ record: LinkRecord, _ order: LinkDraft, _ warnings: [LinkWarning], actor: Actor)
    async throws(LinkError) -> Created
  {
    guard record.disabledAt == nil else {
      throw LinkError(
        .failedPrecondition,
        "The link that says this, \(record.address), is disabled. An administrator can enable it; another content makes another link.",
        reason: "disabled")
    }
    var record = record
    if let name = order.name, name != record.name {
      record = try await edit(record.key, LinkEdit(name: .some(name)), actor: actor).record
    }
    return Created(record: record, warnings: warnings, isRepeated: true)
  }

  private static func checkCustom(_ order: LinkDraft, isAdmin: Bool) throws(LinkError) {
    guard isAdmin else {
      throw LinkError(.permissionDenied, "A suffix of one's own choice needs an administrator's credentials.")
    }
    guard let suffix = order.customSuffix, LinkSuffix.isCustom(suffix) else {
      throw .invalid(
        "customSuffix must be 1 to \(LinkSuffix.lengthMax) letters, digits, - and _, and none of the words that lead elsewhere (i, link, v1, admin)."
      )
    }
  }

  /// What makes two orders one link.
  private static func duplicateKey(_ order: LinkDraft) -> String {
    duplicateKey(prefix: order.prefix.key, order.parameters.canonical, order.option, owner: order.owner)
  }

  static func duplicateKey(prefix: String, _ canonical: String, _ option: LinkSuffix.Option, owner: String?) -> String {
    let text = [prefix, canonical, option.rawValue, owner ?? ""].joined(separator: "\n")
    return Hex.encode(SHA256.hash(data: Array(text.utf8)))
  }

  private func existing(_ same: String) async throws(LinkError) -> LinkRecord? {
    let found = try await reading { (snapshot, namespace) throws(StorageError) -> LinkRecord? in
      guard let key = try snapshot.record(in: namespace, kind: Kind.same, key: same),
        let value = try snapshot.record(in: namespace, kind: Kind.link, key: key)
      else { return nil }
      return LinkRecord(key: key, value: value)
    }
    return found.flatMap { $0 }
  }

  private func newRecord(_ order: LinkDraft, attempt: Int) -> LinkRecord {
    // A space of which eight draws in a row are taken is as good as full.
    if order.option == .short, attempt > 0, attempt % 8 == 0 { shortLength += 1 }
    let length = shortLength
    let (suffix, code) = random.withLock { random in
      let suffix =
        switch order.option {
        case .unguessable: LinkSuffix.unguessable(using: &random)
        case .short: LinkSuffix.short(length, using: &random)
        case .custom: order.customSuffix ?? ""
        }
      return (suffix, LinkSuffix.code(using: &random))
    }
    let owner = order.owner ?? Self.inviter(in: order.parameters, settings: settings)
    var record = LinkRecord(
      key: order.prefix.key + (order.invite == nil ? "/" : "/i/") + suffix, canonical: order.parameters.canonical,
      option: order.option, createdAt: order.createdAt ?? clock.now(), name: order.name, owner: order.owner,
      code: owner == nil ? nil : code, invite: order.invite)
    record.disabledAt = order.isDisabled ? clock.now() : nil
    return record
  }

  private static func changes(_ record: LinkRecord, same: String?) -> [KeyedRecordChange] {
    var changes = [
      KeyedRecordChange(kind: Kind.link, key: record.key, value: record.value, expecting: .absent),
      // A suffix that was deleted is nobody's by chance; an administrator may choose it.
      KeyedRecordChange(
        kind: Kind.deleted, key: record.key, value: nil, expecting: record.option == .custom ? .anything : .absent),
    ]
    if let same { changes.append(KeyedRecordChange(kind: Kind.same, key: same, value: record.key, expecting: .absent)) }
    if let code = record.code {
      changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: record.key, expecting: .absent))
    }
    return changes
  }

  /// The player who invites with a link that has no owner: a parameter of the URL that it opens.
  static func inviter(in parameters: LinkParameters, settings: LinkSettings) -> String? {
    guard let query = parameters.web(.link)?.parameters else { return nil }
    for name in settings.referral.inviterParameters {
      if let value = query.first(where: { $0.name == name })?.value, isPlayer(value) { return value }
    }
    return nil
  }

  /// The record of a link, however it is written: short, with or without `https://` and parameters of an opening.
  package func record(_ text: String) throws(LinkError) -> LinkRecord? {
    guard let key = Self.key(text) else { return nil }
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

  /// Links in the order of their keys.
  package func records(after key: String?, limit: Int) throws(LinkError) -> [LinkRecord] {
    let rows = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.records(in: namespace, kind: Kind.link, after: key, isDescending: false, limit: limit)
    }
    return (rows ?? []).compactMap { LinkRecord(key: $0.key, value: $0.value) }
  }

  /// What was counted of a link in the last days.
  package func counts(of key: String, days: Int64) async throws(LinkError) -> [LinkCount] {
    try await flush()
    let since = clock.now() / 86_400_000 - days + 1
    return try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.linkCounts(in: namespace, of: key, since: since)
    } ?? []
  }

  /// Whether another link may be created now; if so it counts.
  package func admitsCreation(address: String?, key: String, at time: Int64) -> Bool {
    guard isLimited else { return true }
    let limits = settings.limits
    return creations.admits(address ?? "", limit: limits.createPerSecond, at: time)
      && dailyCreations.admits(key, limit: limits.createPerDay, at: time)
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
  var isDisabled = false
  let hasFragment: Bool

  package init(prefix: LinkPrefix, parameters: LinkParameters, hasFragment: Bool = false) {
    self.prefix = prefix
    self.parameters = parameters
    self.hasFragment = hasFragment
  }

  /// Reads the body of `POST /v1/shortLinks` (spec: links-messaging §2).
  package init(json: JSON, settings: LinkSettings) throws(LinkError) {
    let (long, info) = (json["longDynamicLink"], json["dynamicLinkInfo"])
    switch (long, info) {
    case (let long?, nil):
      guard let text = long.string else { throw .invalid("longDynamicLink must be a text.") }
      let link = try LongLink(text, settings: settings)
      self.init(prefix: link.prefix, parameters: link.parameters, hasFragment: link.hasFragment)
    case (nil, let info?):
      let (prefix, parameters) = try LinkForm.read(info, settings: settings)
      self.init(prefix: prefix, parameters: parameters)
    default:
      throw .invalid("Set longDynamicLink (https://PREFIX/?link=…) or dynamicLinkInfo (an object). Expecting exactly one.")
    }
    guard let suffix = json["suffix"], !suffix.isNull else { return }
    guard suffix.object != nil else { throw .invalid("suffix must be an object: {\"option\": \"SHORT\"}.") }
    customSuffix = suffix["customSuffix"]?.string
    switch suffix["option"] {
    case nil, .null, "OPTION_UNSPECIFIED", 0: option = customSuffix == nil ? .unguessable : .custom
    case "UNGUESSABLE", 1: option = .unguessable
    case "SHORT", 2: option = .short
    case "CUSTOM", 3: option = .custom
    default: throw .invalid("suffix.option must be UNGUESSABLE, SHORT or CUSTOM.")
    }
  }
}

/// Counts how often somebody did something in a span of time. Bounded: of very many, the oldest spans are forgotten.
package final class RateWindow: Sendable {
  private let counts = Mutex<[String: (span: Int64, count: Int)]>([:])
  private let span: Int64
  private static let namesMax = 50_000

  /// - Parameter span: in milliseconds; counting begins anew with each.
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
