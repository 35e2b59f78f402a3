internal import Crypto

extension AuditRecord {
  /// What the first record of the chain follows on.
  public static let genesisHash = [UInt8](repeating: 0, count: 32)

  /// The hash of a record in the audit log: SHA-256 over the hash of the one before it, its place and everything in it.
  public func chainHash(place: Int64, previous: [UInt8]) -> [UInt8] {
    var writer = ByteWriter(capacity: 200)
    writer.write(text: "doubloon.audit.1")
    writer.write(bytes: previous)
    writer.write(signed: place)
    writer.write(signed: time)
    writer.write(text: actor.description)
    writer.write(text: action)
    writer.write(text: detail)
    writer.write(text: result)
    return SHA256.hash(data: writer.bytes).withUnsafeBytes(Array.init)
  }
}
