internal import Crypto
public import TreeModel

/// One commit of one namespace, as the log keeps it.
///
/// `hash` is SHA-256 over the previous record's hash, the record's fixed fields and `digest`; `digest` is SHA-256 over the
/// payload. A payload can therefore expire, or be erased for a player who leaves, while the chain still verifies.
public struct CommitRecord: Sendable, Hashable {
  /// Whose log it belongs to; the hash does not cover it.
  public let namespace: NamespaceID
  /// See ``EventID/epoch``.
  public let epoch: Int64
  /// 1, 2, 3 … within the namespace, without gaps.
  public let revision: Revision
  /// Milliseconds since 1970; never smaller than the record's before.
  public let time: Int64
  /// Who wrote.
  public let actor: Actor
  /// What the client called this request, if it did.
  public let requestID: String?
  /// The event and the function whose effect this commit is.
  public let cause: Cause?
  /// Whether functions were told to sleep through this commit.
  public let suppressesTriggers: Bool
  /// What changed, sorted by path; nil once the payload is forgotten.
  public let changes: [LeafChange]?
  /// What was taken out of ``changes`` for players who left, in the order in which it was.
  public let erased: [ErasedPart]
  /// SHA-256 of the stored form of ``changes``; it stays when they are forgotten.
  public let digest: [UInt8]
  /// 32 bytes: the end of the chain up to here.
  public let hash: [UInt8]

  public init(
    namespace: NamespaceID, epoch: Int64, revision: Revision, time: Int64, actor: Actor, requestID: String?, cause: Cause?,
    suppressesTriggers: Bool, changes: [LeafChange]?, erased: [ErasedPart] = [], digest: [UInt8], hash: [UInt8]
  ) {
    self.namespace = namespace
    self.epoch = epoch
    self.revision = revision
    self.time = time
    self.actor = actor
    self.requestID = requestID
    self.cause = cause
    self.suppressesTriggers = suppressesTriggers
    self.changes = changes
    self.erased = erased
    self.digest = digest
    self.hash = hash
  }

  /// Whether what the commit changed at a place is not known any more: its payload is forgotten, or this part of it erased.
  public func hasForgotten(_ path: PathBytes) -> Bool { changes == nil || erased.contains { $0.concerns(path) } }

  /// Whether the payload, as far as it is still there, is what was written or what an erasure left.
  public var isPayloadSound: Bool { changes.map { Self.digest(of: $0) == (erased.last?.digest ?? digest) } ?? true }
}

extension CommitRecord {
  /// SHA-256 over the payload.
  public static func digest(of changes: [LeafChange]) -> [UInt8] {
    SHA256.hash(data: LeafChangeList.encode(changes)).withUnsafeBytes(Array.init)
  }

  /// The hash of a record: SHA-256 over the hash of the record before it, the fixed fields and the payload's digest.
  ///
  /// The request id is covered, the payload only by its digest: it can be forgotten and the chain still verifies.
  public static func chainHash(
    previous: [UInt8], epoch: Int64, revision: Revision, time: Int64, actor: Actor, requestID: String?, cause: Cause?,
    suppressesTriggers: Bool, digest: [UInt8]
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: 160)
    writer.write(text: "doubloon.commit.1")
    writer.write(bytes: previous)
    writer.write(signed: epoch)
    writer.write(signed: revision.rawValue)
    writer.write(signed: time)
    writer.write(text: actor.description)
    writer.write(optional: requestID)
    writer.write(bytes: cause?.storedBytes ?? [])
    writer.write(byte: suppressesTriggers ? 1 : 0)
    writer.write(bytes: digest)
    return SHA256.hash(data: writer.bytes).withUnsafeBytes(Array.init)
  }

  /// Whether the record is what was written and follows on `previous` (nil before the first).
  ///
  /// A payload that is still there must have the digest, or that which its erasure noted; one that was forgotten is not
  /// missed.
  public func verify(after previous: CommitRecord?) -> Bool {
    guard revision == (previous?.revision ?? .zero).next, time >= previous?.time ?? time else { return false }
    guard isPayloadSound else { return false }
    let expected = Self.chainHash(
      previous: previous?.hash ?? NamespaceHead.genesisHash, epoch: epoch, revision: revision, time: time, actor: actor,
      requestID: requestID, cause: cause, suppressesTriggers: suppressesTriggers, digest: digest)
    return hash == expected
  }
}

/// Why a commit happened: the run of a function for an event.
public struct Cause: Sendable, Hashable {
  /// The event that it ran for.
  public let event: EventID
  /// The function that ran.
  public let function: String
  /// How many functions stand between the first write and this commit: 1 for the effect of a client's write.
  public let hop: Int

  public init(event: EventID, function: String, hop: Int) {
    self.event = event
    self.function = function
    self.hop = hop
  }
}

/// Who did something.
public enum Actor: Sendable, Hashable, CustomStringConvertible {
  /// An administrator, by the name of the credential; rules do not apply.
  case admin(String)
  /// A signed-in user.
  case user(uid: String)
  /// A client without credentials.
  case anonymous
  /// The effect of a function.
  case function(String)
  /// The engine itself: an import, a restore.
  case system(String)

  public var description: String {
    switch self {
    case .admin(let name): "admin:\(name)"
    case .user(let uid): "user:\(uid)"
    case .anonymous: "anonymous"
    case .function(let name): "function:\(name)"
    case .system(let name): "system:\(name)"
    }
  }

  /// Reads what ``description`` wrote.
  public init?(_ text: String) {
    if text == "anonymous" {
      self = .anonymous
      return
    }
    // By bytes: a name may begin with a combining mark, which Swift would make one character with the colon.
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = String(text[text.utf8.index(after: colon)...])
    switch text[..<colon] {
    case "admin": self = .admin(name)
    case "user": self = .user(uid: name)
    case "function": self = .function(name)
    case "system": self = .system(name)
    default: return nil
    }
  }
}

/// The state of one namespace's tree: 0 is empty, every commit adds 1.
public struct Revision: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The empty tree, before the first commit.
  public static let zero = Revision(0)
  /// The state after one more commit.
  public var next: Revision { Revision(rawValue + 1) }
  /// The state that this commit was applied to.
  public var previous: Revision { Revision(rawValue - 1) }

  public static func < (a: Revision, b: Revision) -> Bool { a.rawValue < b.rawValue }
  public var description: String { String(rawValue) }
}
