internal import TreeModel

extension Cause {
  static let version: UInt8 = 1

  /// The stored form.
  public var storedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(byte: Self.version)
    writer.write(signed: event.epoch)
    writer.write(signed: event.revision.rawValue)
    writer.write(bytes: event.path.bytes)
    writer.write(text: function)
    writer.write(signed: Int64(hop))
    return writer.bytes
  }

  /// Reads the stored form.
  public init(stored bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version else { throw ByteReader.damaged("a cause has the unknown form \(version)") }
    let epoch = try reader.signed()
    let revision = Revision(try reader.signed())
    let path = PathBytes(bytes: try reader.bytes())
    let function = try reader.text()
    let hop = Int(try reader.signed())
    try reader.finish()
    self.init(event: EventID(epoch: epoch, revision: revision, path: path), function: function, hop: hop)
  }
}
