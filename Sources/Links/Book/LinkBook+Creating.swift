import Crypto
public import StorageCore
import Synchronization
import TreeModel

extension LinkBook {
  /// A link that was created, or was there.
  public struct Created: Sendable {
    public let record: LinkRecord
    /// What is doubtful about it.
    public let warnings: [LinkWarning]
    /// Whether an equal one was there before.
    public let isRepeated: Bool
  }

  /// Creates a short link.
  ///
  /// - Parameter isAdmin: whether the suffix may be chosen.
  /// - Throws: ``LinkFault``; nothing was created.
  public func create(_ order: LinkOrder, isAdmin: Bool, actor: Actor) async throws(LinkFault) -> Created {
    let warnings = try LinkChecker(settings: settings).check(
      order.parameters, below: order.prefix, hasFragment: order.hasFragment)
    let same = Self.sameKey(order)
    if order.invite == nil, order.option != .custom, let record = try await existing(same) {
      return try await repeated(record, order, warnings, actor: actor)
    }
    if order.option == .custom { try Self.checkCustom(order, isAdmin: isAdmin) }
    var attempts = 0
    while true {
      let record = newRecord(order, attempt: attempts)
      let forms = try await formRows(from: nil, to: record)
      do throws(LinkFault) {
        try await commit { request in
          request.actor = actor
          request.records = Self.changes(record, same: order.invite == nil && order.option != .custom ? same : nil) + forms
        }
        return Created(record: record, warnings: warnings, isRepeated: false)
      } catch  where error.reason == Self.changed {
        // Somebody has the suffix, or the code, or created the same link a moment ago.
        if order.invite == nil, order.option != .custom, let record = try await existing(same) {
          return try await repeated(record, order, warnings, actor: actor)
        }
        if order.option == .custom, error.message.hasPrefix("\(Kind.link)/") {
          throw LinkFault(.alreadyExists, "The suffix \"\(order.customSuffix ?? "")\" is taken; choose another.")
        }
        attempts += 1
        guard attempts < 64 else { throw LinkFault(.unavailable, "No free suffix was found; try again.") }
      }
    }
  }

  /// The link that an equal order made. A name that an administrator gives now is its name from now on.
  private func repeated(_ record: LinkRecord, _ order: LinkOrder, _ warnings: [LinkWarning], actor: Actor)
    async throws(LinkFault) -> Created
  {
    guard record.disabledAt == nil else {
      throw LinkFault(
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

  private static func checkCustom(_ order: LinkOrder, isAdmin: Bool) throws(LinkFault) {
    guard isAdmin else {
      throw LinkFault(.permissionDenied, "A suffix of one's own choice needs an administrator's credentials.")
    }
    guard let suffix = order.customSuffix, LinkSuffix.isCustom(suffix) else {
      throw .invalid(
        "customSuffix must be 1 to \(LinkSuffix.lengthMax) letters, digits, - and _, and none of the words that lead elsewhere (i, link, v1, admin)."
      )
    }
  }

  /// What makes two orders one link.
  private static func sameKey(_ order: LinkOrder) -> String {
    sameKey(prefix: order.prefix.key, order.parameters.canonical, order.option, owner: order.owner)
  }

  static func sameKey(prefix: String, _ canonical: String, _ option: LinkSuffix.Option, owner: String?) -> String {
    let text = [prefix, canonical, option.rawValue, owner ?? ""].joined(separator: "\n")
    return HexText.text(SHA256.hash(data: Array(text.utf8)))
  }

  private func existing(_ same: String) async throws(LinkFault) -> LinkRecord? {
    let found = try await reading { (snapshot, namespace) throws(StorageError) -> LinkRecord? in
      guard let key = try snapshot.record(in: namespace, kind: Kind.same, key: same),
        let value = try snapshot.record(in: namespace, kind: Kind.link, key: key)
      else { return nil }
      return LinkRecord(key: key, value: value)
    }
    return found.flatMap { $0 }
  }

  private func newRecord(_ order: LinkOrder, attempt: Int) -> LinkRecord {
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

  private static func changes(_ record: LinkRecord, same: String?) -> [RoomChange] {
    var changes = [
      RoomChange(kind: Kind.link, key: record.key, value: record.value, expecting: .absent),
      // A suffix that was deleted is nobody's by chance; an administrator may choose it.
      RoomChange(
        kind: Kind.deleted, key: record.key, value: nil, expecting: record.option == .custom ? .anything : .absent),
    ]
    if let same { changes.append(RoomChange(kind: Kind.same, key: same, value: record.key, expecting: .absent)) }
    if let code = record.code {
      changes.append(RoomChange(kind: Kind.code, key: code, value: record.key, expecting: .absent))
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
  public func record(_ text: String) throws(LinkFault) -> LinkRecord? {
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
  public func records(after key: String?, limit: Int) throws(LinkFault) -> [LinkRecord] {
    let rows = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.records(in: namespace, kind: Kind.link, after: key, isDescending: false, limit: limit)
    }
    return (rows ?? []).compactMap { LinkRecord(key: $0.key, value: $0.value) }
  }

  /// What was counted of a link in the last days.
  public func counts(of key: String, days: Int64) async throws(LinkFault) -> [LinkCount] {
    try await flush()
    let since = clock.now() / 86_400_000 - days + 1
    return try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.linkCounts(in: namespace, of: key, since: since)
    } ?? []
  }

  /// Whether another link may be created now; if so it counts.
  public func admitsCreation(address: String?, key: String, at time: Int64) -> Bool {
    guard isLimited else { return true }
    let limits = settings.limits
    return creations.admits(address ?? "", limit: limits.createPerSecond, at: time)
      && dailyCreations.admits(key, limit: limits.createPerDay, at: time)
  }
}
