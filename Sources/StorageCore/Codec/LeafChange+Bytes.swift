public import TreeModel

/// The stored form of a list of changes: what the commit log keeps, and what a commit's digest covers.
///
/// A version byte, the number of changes, then for each: how many bytes of path it shares with the change before, the rest
/// of the path, the value before and the value after. Paths come sorted, so a subtree's common beginning is written once.
public enum LeafChangeList {
  static let version: UInt8 = 1
  /// The form of a payload that an erasure has touched.
  static let erasedVersion: UInt8 = 2

  /// The stored form. The changes must be sorted by path, or little is shared.
  public static func encode(_ changes: [LeafChange]) -> [UInt8] {
    var writer = ByteWriter(capacity: 16 + 64 * changes.count)
    writer.write(byte: version)
    writer.write(unsigned: UInt64(changes.count))
    var last: [UInt8] = []
    for change in changes {
      let path = change.path.bytes
      let shared = sharedCount(last, path)
      writer.write(unsigned: UInt64(shared))
      writer.write(bytes: path[shared...])
      writer.write(scalar: change.before)
      writer.write(scalar: change.after)
      last = path
    }
    return writer.bytes
  }

  /// The stored form of what an erasure left: its parts stand in front of the list.
  public static func encode(_ changes: [LeafChange], without erased: [ErasedPart]) -> [UInt8] {
    guard !erased.isEmpty else { return encode(changes) }
    var writer = ByteWriter(capacity: 128 * erased.count)
    writer.write(byte: erasedVersion)
    writer.write(unsigned: UInt64(erased.count))
    for part in erased {
      writer.write(signed: part.order.rawValue)
      writer.write(unsigned: UInt64(part.paths.count))
      for path in part.paths { writer.write(bytes: path.bytes) }
      writer.write(bytes: part.digest)
    }
    return writer.bytes + encode(changes)
  }

  /// Reads the stored form of a commit's payload.
  ///
  /// - Throws: ``StorageError/Code/damaged`` if this type cannot have written the bytes.
  public static func decodePayload(_ bytes: UnsafeRawBufferPointer) throws(StorageError)
    -> (changes: [LeafChange], erased: [ErasedPart])
  {
    guard bytes.first == erasedVersion else { return (try decode(bytes), []) }
    var reader = ByteReader(bytes)
    _ = try reader.byte()
    var erased: [ErasedPart] = []
    for _ in 0..<(try reader.count()) {
      let order = Revision(try reader.signed())
      var paths: [PathBytes] = []
      for _ in 0..<(try reader.count()) { paths.append(PathBytes(bytes: try reader.bytes())) }
      erased.append(ErasedPart(order: order, paths: paths, digest: try reader.bytes()))
    }
    return (try decode(reader.rest()), erased)
  }

  /// Reads the stored form of a list.
  ///
  /// - Throws: ``StorageError/Code/damaged`` if this type cannot have written the bytes.
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> [LeafChange] {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version else { throw ByteReader.damaged("a commit has the unknown form \(version)") }
    // A change takes at least four bytes; a count beyond what is left is refused before anything is allocated for it.
    let count = try reader.count()
    var changes: [LeafChange] = []
    changes.reserveCapacity(min(count, bytes.count / 4))
    var path: [UInt8] = []
    for _ in 0..<count {
      let shared = try reader.unsigned()
      guard shared <= UInt64(path.count) else { throw ByteReader.damaged("a change shares more than there is") }
      let rest = try reader.raw(reader.count())
      if shared == 0 {
        path = Array(rest)
      } else {
        path.removeSubrange(Int(shared)...)
        path.append(contentsOf: rest)
      }
      let before = try reader.optionalScalar()
      changes.append(LeafChange(path: PathBytes(bytes: path), before: before, after: try reader.optionalScalar()))
    }
    try reader.finish()
    return changes
  }

  private static func sharedCount(_ a: [UInt8], _ b: [UInt8]) -> Int {
    let count = min(a.count, b.count)
    var i = 0
    while i < count, a[i] == b[i] { i += 1 }
    return i
  }
}

extension [LeafChange] {
  /// The changes of a commit that are the tree's; those of accounts stand behind them. Costs one look where there are none.
  public var withoutAccounts: [LeafChange] {
    guard let last, last.path.isAccounts else { return self }
    return Array(prefix { !$0.path.isAccounts })
  }
}
