public import TreeModel

/// The stored form of a list of changes: what the commit log keeps, and what a commit's digest covers.
///
/// A version byte, the number of changes, then for each: how many bytes of path it shares with the change before, the rest
/// of the path, the value before and the value after. Paths come sorted, so a subtree's common beginning is written once.
public enum LeafChangeList {
  static let version: UInt8 = 1

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

  /// Reads the stored form.
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
