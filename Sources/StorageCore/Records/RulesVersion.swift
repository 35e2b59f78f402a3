internal import Crypto
internal import TextFormats
internal import TreeModel

/// A version of a namespace's security rules, as its history lists it; the source stands beside, under its hash.
public struct RulesVersion: Sendable, Hashable {
  /// How it came to hold.
  public enum Way: String, Sendable, Hashable, CaseIterable {
    /// Somebody put it.
    case put
    /// Somebody went back to an earlier version.
    case rollback
    /// The configuration named it at a start.
    case configuration
    /// It held already when the history began, or a version of Doubloon put it that keeps none.
    case found
  }

  /// 1, 2, 3 … within the namespace; none is given twice.
  public let number: Int64
  /// Since when it holds, in milliseconds since 1970.
  public let time: Int64
  /// Who put it, as `Actor.description`; nil where that is not known.
  public let actor: String?
  /// How it came to hold.
  public let way: Way
  /// Why, if somebody said so.
  public let reason: String?
  /// SHA-256 of the source, 64 hexadecimal digits.
  public let hash: String
  /// Of the source, in UTF-8.
  public let bytes: Int64
  /// The version that a rollback went back to.
  public let restores: Int64?

  public init(
    number: Int64, time: Int64, actor: String?, way: Way, reason: String? = nil, hash: String, bytes: Int64,
    restores: Int64? = nil
  ) {
    self.number = number
    self.time = time
    self.actor = actor
    self.way = way
    self.reason = reason
    self.hash = hash
    self.bytes = bytes
    self.restores = restores
  }

  init?(json: JSON) {
    guard let number = json["number"]?.int, let time = json["time"]?.int, let hash = json["hash"]?.string,
      let bytes = json["bytes"]?.int, let way = json["way"]?.string.flatMap(Way.init)
    else { return nil }
    self.init(
      number: number, time: time, actor: json["actor"]?.string, way: way, reason: json["reason"]?.string, hash: hash,
      bytes: bytes, restores: json["restores"]?.int)
  }

  var json: JSON {
    JSON(fields: [
      ("number", .int(number)), ("time", .int(time)), ("actor", actor.map(JSON.string)), ("way", .string(way.rawValue)),
      ("reason", reason.map(JSON.string)), ("hash", .string(hash)), ("bytes", .int(bytes)),
      ("restores", restores.map(JSON.int)),
    ])
  }
}

extension RulesRecord {
  /// SHA-256 of the source, 64 hexadecimal digits.
  public var hash: String { RulesHistory.hash(of: source) }
}

/// The last versions of a namespace's rules, oldest first.
///
/// Two kinds of keyed records hold it: one record with the list, and one for each source, under its hash, so that versions that
/// say the same share it. A store needs no table for it, so versions of Doubloon with and without a history open each other's.
public struct RulesHistory: Sendable {
  /// As many versions are kept.
  public static let countMax = 100
  /// The longest reason that is kept, in characters.
  public static let reasonMax = 500

  private static let listKind = "rules_history"
  private static let listKey = "versions"
  private static let sourceKind = "rules_source"

  /// Oldest first; the last is what holds.
  public private(set) var versions: [RulesVersion]

  /// The history of a namespace. Where what holds is not its last version, as in a store from before there was a history, it
  /// is added as one that was found.
  public init(of namespace: NamespaceID, in store: any StorageReading) throws(StorageError) {
    let text = try store.record(in: namespace, kind: Self.listKind, key: Self.listKey)
    versions = text.flatMap { try? JSONParser.parse($0) }?.array?.compactMap(RulesVersion.init(json:)) ?? []
    guard let record = try store.rules(of: namespace) else { return }
    let hash = record.hash
    guard versions.last?.hash != hash else { return }
    append(
      RulesVersion(
        number: nextNumber, time: record.updatedAt, actor: nil, way: .found, hash: hash,
        bytes: Int64(record.source.utf8.count)))
  }

  /// SHA-256 of a source, 64 hexadecimal digits.
  public static func hash(of source: String) -> String {
    var source = source
    return source.withUTF8 { Hex.encode(SHA256.hash(data: $0)) }
  }

  /// The source of a version; nil if it is not kept.
  public static func source(_ hash: String, of namespace: NamespaceID, in store: any StorageReading) throws(StorageError)
    -> String?
  {
    // What was found may not have been put down yet.
    if let record = try store.rules(of: namespace), record.hash == hash { return record.source }
    let text = try store.record(in: namespace, kind: sourceKind, key: hash)
    return text.flatMap { try? JSONParser.parse($0) }?.string
  }

  /// The number that the next version gets.
  public var nextNumber: Int64 { (versions.last?.number ?? 0) + 1 }

  /// The version of a number, or of a hash: of several, the last.
  public subscript(name: String) -> RulesVersion? {
    if let number = Int64(name) { return versions.last { $0.number == number } }
    return versions.last { $0.hash == name }
  }

  /// Adds a version, and puts down what is kept from now on. To be called before the record of the rules is replaced: the
  /// source of what was found is taken from it.
  public mutating func add(
    _ version: RulesVersion, source: String, of namespace: NamespaceID, in session: any CommitSession
  ) throws(StorageError) {
    if let last = versions.last, last.way == .found, let record = try session.rules(of: namespace) {
      session.put(Self.keep(record.source, hash: last.hash), in: namespace)
    }
    let before = Set(versions.map(\.hash))
    append(version)
    session.put(Self.keep(source, hash: version.hash), in: namespace)
    for hash in before.subtracting(versions.map(\.hash)) {
      session.put(KeyedRecordChange(kind: Self.sourceKind, key: hash, value: nil), in: namespace)
    }
    let list = JSON.array(versions.map(\.json)).compactText
    session.put(KeyedRecordChange(kind: Self.listKind, key: Self.listKey, value: list), in: namespace)
  }

  private mutating func append(_ version: RulesVersion) {
    versions.append(version)
    versions.removeFirst(max(0, versions.count - Self.countMax))
  }

  private static func keep(_ source: String, hash: String) -> KeyedRecordChange {
    KeyedRecordChange(kind: sourceKind, key: hash, value: JSON.string(source).compactText)
  }
}

/// Who replaces the rules of a namespace, why, and on what condition.
public struct RulesChange: Sendable, Hashable {
  /// Stands for "no rules" where a hash is expected.
  public static let none = "none"

  /// Who.
  public var actor: Actor
  /// How.
  public var way: RulesVersion.Way
  /// Why, if somebody said so.
  public var reason: String?
  /// The hash that the rules must have when they are replaced (``none``: there must be no rules); nil where any will do.
  public var ifHash: String?
  /// The version that a rollback goes back to.
  public var restores: Int64?

  public init(
    by actor: Actor, way: RulesVersion.Way = .put, reason: String? = nil, ifHash: String? = nil, restores: Int64? = nil
  ) {
    self.actor = actor
    self.way = way
    self.reason = reason
    self.ifHash = ifHash
    self.restores = restores
  }
}

/// What became of a ``RulesChange``.
public enum RulesOutcome: Sendable, Hashable {
  /// The rules hold, as this version.
  case replaced(RulesVersion)
  /// They held already, as this version.
  case unchanged(RulesVersion)
  /// Nothing was done: others replaced the rules meanwhile, with this version; nil if there are none.
  case conflict(RulesVersion?)
}
