public import TreeModel

extension Scalar {
  /// The stored form: a tag byte and the value.
  public var storedBytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.write(scalar: self)
    return writer.bytes
  }

  /// Reads the stored form.
  public init(stored bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = ByteReader(bytes)
    let value = try reader.optionalScalar()
    try reader.finish()
    guard let value else { throw ByteReader.damaged("a leaf has no value") }
    self = value
  }
}
