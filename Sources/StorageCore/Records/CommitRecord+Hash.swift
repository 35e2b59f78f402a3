internal import Crypto
public import TreeModel

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
