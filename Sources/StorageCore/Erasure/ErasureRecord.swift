public import TreeModel

/// The erasure of a player: what is to go, why, and how far it is. A keyed record, so that it goes on after a crash.
public struct ErasureRecord: Sendable, Hashable {
  /// What is done.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The account and the tree's nodes are removed; functions may still work on that.
    case removing
    /// Payloads are being forgotten; nothing holds it up any more.
    case forgetting
    /// The payloads are forgotten and the log says so; what is left is beside the log.
    case sealed
    /// All of it.
    case done
  }

  /// Of which kind the records are: one for each uid, the last erasure of it.
  public static let kind = "erasure"

  /// Of which kind the lists of commits are that an erasure touches, as long as it rewrites them: a payload that was rewritten
  /// does not tell any more that it is one of them.
  public static let commitsKind = "erasure_commits"

  /// The player.
  public let uid: String
  /// What was the player's in the tree, with the place of the account.
  public let paths: [Path]
  /// How far it is.
  public var state: State
  /// Who ordered it.
  public let actor: Actor
  /// Why, in a person's words.
  public let reason: String
  /// In milliseconds since 1970.
  public let orderedAt: Int64
  /// The commit up to which the past is forgotten; names the erasure. Nil while nodes are being removed.
  public var order: Revision?
  /// When it was done, in milliseconds since 1970.
  public var finishedAt: Int64?
  /// Commits whose payloads were touched.
  public var commits: Int64 = 0
  /// The player's addresses, as long as something is to be found by them; none once it is done.
  public var addresses: [String]

  public init(uid: String, paths: [Path], actor: Actor, reason: String, orderedAt: Int64, addresses: [String]) {
    self.uid = uid
    self.paths = paths
    self.actor = actor
    self.reason = reason
    self.orderedAt = orderedAt
    self.addresses = addresses
    state = .removing
  }

  /// Reads what ``value`` wrote; nil if it is damaged.
  public init?(uid: String, value: String) {
    guard let json = try? JSONParser.parse(value), let state = json["state"]?.string.flatMap(State.init),
      let actor = json["by"]?.string.flatMap({ Actor($0) }), let at = json["orderedAt"]?.int,
      let paths = json["places"]?.array?.compactMap({ $0.string.flatMap { try? Path(parsingInternal: $0) } })
    else { return nil }
    self.init(
      uid: uid, paths: paths, actor: actor, reason: json["reason"]?.string ?? "", orderedAt: at,
      addresses: json["addresses"]?.array?.compactMap(\.string) ?? [])
    self.state = state
    order = json["order"]?.int.map { Revision($0) }
    finishedAt = json["finishedAt"]?.int
    commits = json["commits"]?.int ?? 0
  }

  /// As it is shown to administrators.
  public var json: JSON {
    JSON(fields: [
      ("uid", .string(uid)), ("state", .string(state.rawValue)), ("places", .array(paths.map { .string($0.description) })),
      ("by", .string(actor.description)), ("reason", .string(reason)), ("orderedAt", .int(orderedAt)),
      ("order", order.map { .int($0.rawValue) }), ("finishedAt", finishedAt.map { .int($0) }), ("commits", .int(commits)),
    ])
  }

  /// As it is stored.
  public var value: String {
    guard !addresses.isEmpty, let members = json.object else { return json.singleLine }
    return JSON.object(members + [.init(key: "addresses", value: .array(addresses.map { .string($0) }))]).singleLine
  }

  /// The change that stores it.
  public var change: KeyedRecordChange { KeyedRecordChange(kind: Self.kind, key: uid, value: value) }

  /// What is known of each of its places from now on.
  ///
  /// - `order`: the commit up to which the past is forgotten.
  public func placeChanges(_ order: Revision, at time: Int64) -> [KeyedRecordChange] {
    paths.map { ErasedPath(path: $0, uid: uid, through: order, at: time, actor: actor, reason: reason).change }
  }
}

extension JSON {
  /// As text on one line.
  var singleLine: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// What was taken out of a commit's payload for a player who left.
///
/// The commit's own digest and hash stay: they are of what was written. What is left in the payload has a digest of its own,
/// which the erasure's seal covers (``ErasureSeal``).
public struct ErasedPart: Sendable, Hashable {
  /// The commit that ordered the erasure; names it.
  public let order: Revision
  /// Below which places nothing is left.
  public let paths: [PathBytes]
  /// SHA-256 of the stored form of the changes that were left.
  public let digest: [UInt8]

  public init(order: Revision, paths: [PathBytes], digest: [UInt8]) {
    self.order = order
    self.paths = paths
    self.digest = digest
  }

  /// Whether something at or below a path, or around it, may be missing.
  public func concerns(_ path: PathBytes) -> Bool {
    paths.contains { $0.contains(path) || path.contains($0) }
  }
}

/// A path of the tree whose past was erased: what is answered to a question about it.
public struct ErasedPath: Sendable, Hashable {
  /// Of which kind the records are; their keys are the places.
  public static let kind = "erased_place"

  /// The place; what stood below it is erased too.
  public let path: Path
  /// Whose it was.
  public let uid: String
  /// Up to here nothing is known of it.
  public let through: Revision
  /// When it was erased, in milliseconds since 1970.
  public let at: Int64
  /// Who ordered it.
  public let actor: Actor
  /// Why, in a person's words.
  public let reason: String

  init(path: Path, uid: String, through: Revision, at: Int64, actor: Actor, reason: String) {
    self.path = path
    self.uid = uid
    self.through = through
    self.at = at
    self.actor = actor
    self.reason = reason
  }

  init?(_ record: KeyedRecord) {
    guard let json = try? JSONParser.parse(record.value), let path = try? Path(parsingInternal: record.key),
      let uid = json["uid"]?.string, let through = json["through"]?.int, let at = json["at"]?.int,
      let actor = json["by"]?.string.flatMap({ Actor($0) })
    else { return nil }
    self.init(
      path: path, uid: uid, through: Revision(through), at: at, actor: actor, reason: json["reason"]?.string ?? "")
  }

  /// As administrators are told: `path`, `uid`, `through`, `at`, `by`, `reason`.
  public var json: JSON {
    JSON(fields: [
      ("path", .string(path.description)), ("uid", .string(uid)), ("through", .int(through.rawValue)), ("at", .int(at)),
      ("by", .string(actor.description)), ("reason", .string(reason)),
    ])
  }

  var change: KeyedRecordChange { KeyedRecordChange(kind: Self.kind, key: path.description, value: json.singleLine) }
}
