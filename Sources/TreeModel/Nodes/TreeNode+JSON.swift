/// How a node is written as JSON.
public enum TreeFormat: Sendable, Hashable {
  /// What REST clients see: priorities are hidden and list-like maps become arrays.
  case plain
  /// What sockets, `format=export` and backups see: priorities as `.priority` and `.value`; never an array.
  case export
}

extension TreeNode {
  /// The node as JSON text, in UTF-8; an absent node is `null`.
  public func json(_ format: TreeFormat = .plain, pretty: Bool = false) -> [UInt8] {
    var writer = JSONWriter(pretty: pretty)
    write(to: &writer, format: format)
    return writer.bytes
  }

  /// Prints the node; an absent node is `null`.
  public func write(to writer: inout JSONWriter, format: TreeFormat) {
    let shown = format == .export ? priority : nil
    switch content {
    case .absent: writer.null()
    case .leaf(let scalar):
      guard let shown else { return writer.scalar(scalar) }
      writer.beginObject()
      writer.key(".value")
      writer.scalar(scalar)
      writer.key(".priority")
      writer.scalar(shown)
      writer.endObject()
    case .map(let map):
      if format == .plain, map.arrayLength != nil { return map.writeArray(to: &writer) }
      writer.beginObject()
      for entry in map {
        writer.key(entry.key.text)
        entry.node.write(to: &writer, format: format)
      }
      if let shown {
        writer.key(".priority")
        writer.scalar(shown)
      }
      writer.endObject()
    }
  }

  /// The node as a JSON value; an absent node is `null`.
  public func jsonValue(_ format: TreeFormat = .plain) -> JSON {
    let shown = format == .export ? priority : nil
    switch content {
    case .absent: return .null
    case .leaf(let scalar):
      guard let shown else { return scalar.json }
      return [".value": scalar.json, ".priority": shown.json]
    case .map(let map):
      if format == .plain, let length = map.arrayLength {
        var elements = [JSON](repeating: .null, count: length)
        for entry in map { elements[Int(entry.key.integer ?? 0)] = entry.node.jsonValue(format) }
        return .array(elements)
      }
      var members = map.map { JSON.Member(key: $0.key.text, value: $0.node.jsonValue(format)) }
      if let shown { members.append(JSON.Member(key: ".priority", value: shown.json)) }
      return .object(members)
    }
  }
}

extension Scalar {
  /// The value as JSON.
  public var json: JSON {
    switch self {
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    }
  }
}

extension TreeMap {
  /// The length of the array that the map is shown as; nil if it is shown as an object.
  ///
  /// An array if all keys are numbers without sign and leading zeros, and at least half of the places are filled.
  var arrayLength: Int? {
    // Integer keys sort first and by value: the last key is the greatest one, and the first to fail.
    guard let last, let greatest = last.key.integer, greatest >= 0, Int(greatest) < 2 * count else { return nil }
    for entry in self {
      let digits = entry.key.text.utf8
      guard let first = digits.first, first != UInt8(ascii: "-") else { return nil }
      if first == UInt8(ascii: "0"), digits.count > 1 { return nil }
    }
    return Int(greatest) + 1
  }

  fileprivate func writeArray(to writer: inout JSONWriter) {
    writer.beginArray()
    var next = 0
    for entry in self {
      let index = Int(entry.key.integer ?? 0)
      while next < index {
        writer.element()
        writer.null()
        next += 1
      }
      writer.element()
      entry.node.write(to: &writer, format: .plain)
      next = index + 1
    }
    writer.endArray()
  }
}

extension TreeNode {
  /// Reads data that holds no server values: an export, a fixture.
  ///
  /// - Throws: ``WriteDataError``, as `WriteNode.init(json:depth:)` does, and for any server value.
  public init(json: JSON, depth: Int = 0) throws(WriteDataError) {
    let write = try WriteNode(json: json, depth: depth)
    if let slot = write.slots.first { throw WriteDataError(.serverValueNotAllowed, at: slot.path) }
    self = write.node
  }
}
