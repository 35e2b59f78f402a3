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
