extension WriteNode {
  /// A string's largest size, in bytes of UTF-8 (Firebase, "Realtime Database Limits").
  public static let stringBytesMax = 10 * 1024 * 1024

  /// Reads the data of a write: plain JSON, export form, and server values.
  ///
  /// Nulls and empty containers are absence; arrays become maps with the keys 0, 1, …; of a repeated name the last counts.
  ///
  /// - Parameters:
  ///   - json: the body.
  ///   - depth: how deep the place written lies; data may reach ``Path/depthMax`` levels below the root.
  ///   - bounds: how much there may be; paths count from the place written.
  /// - Throws: ``WriteDataError`` for illegal keys, dot names without meaning, bad priorities and server values, data that
  ///   lies too deep or is too much, and strings over ``stringBytesMax``.
  public init(json: JSON, depth: Int = 0, bounds: WriteBounds = .none) throws(WriteDataError) {
    var meter = WriteMeter(bounds)
    try self.init(json: json, depth: depth, pathBytes: 0, meter: &meter)
  }

  /// - `pathBytes`: how long the path to the place is.
  /// - `meter`: counts what is read.
  init(json: JSON, depth: Int, pathBytes: Int, meter: inout WriteMeter) throws(WriteDataError) {
    var reader = WriteDataReader(depth: depth, pathBytes: pathBytes, meter: meter)
    let node = try reader.node(json)
    if !node.exists { try reader.meter.count(bytes: pathBytes) }
    meter = reader.meter
    self.init(node, slots: reader.slots)
  }
}

/// Walks a body from the outside in and keeps the way it came.
struct WriteDataReader {
  /// The server values met, each at its path.
  private(set) var slots: [WriteNode.Slot] = []
  /// Counts what is read.
  var meter: WriteMeter
  private let depth: Int
  private var keys: [Key] = []
  /// How long the path is.
  private var pathBytes: Int

  init(depth: Int, pathBytes: Int, meter: WriteMeter) {
    self.depth = depth
    self.pathBytes = pathBytes
    self.meter = meter
  }

  mutating func node(_ json: JSON) throws(WriteDataError) -> TreeNode {
    switch json {
    case .null: .absent
    case .bool(let value): try counted(.bool(value))
    case .int(let value): try counted(.int(value))
    case .double(let value): try counted(try number(value))
    case .string(let value): try counted(try text(value))
    case .array(let elements): try list(elements)
    case .object(let members): try object(members)
    }
  }

  private mutating func counted(_ scalar: Scalar) throws(WriteDataError) -> TreeNode {
    try count(scalar)
    return .leaf(scalar)
  }

  private mutating func count(_ scalar: Scalar) throws(WriteDataError) {
    try meter.count(bytes: pathBytes + (scalar.stringValue?.utf8.count ?? 8))
  }

  /// What a `.priority` holds: nil for null.
  mutating func priority(_ json: JSON) throws(WriteDataError) -> WriteOperation.PriorityValue {
    if !json.isNull { try meter.count(bytes: pathBytes + 8) }
    switch json {
    case .null: return .scalar(nil)
    case .int(let value): return .scalar(.int(value))
    case .double(let value): return .scalar(try number(value))
    case .string(let value): return .scalar(try text(value))
    case .object(let members):
      guard members.count == 1, let form = json[".sv"] else { throw dataError(.illegalPriority) }
      return .server(try serverValue(form))
    case .bool, .array: throw dataError(.illegalPriority)
    }
  }

  private func dataError(_ code: WriteDataError.Code) -> WriteDataError {
    WriteDataError(code, at: Path(keys: keys))
  }

  private func number(_ value: Double) throws(WriteDataError) -> Scalar {
    guard value.isFinite else { throw dataError(.numberNotFinite) }
    return .number(value)
  }

  private func text(_ value: String) throws(WriteDataError) -> Scalar {
    guard value.utf8.count <= WriteNode.stringBytesMax else { throw dataError(.stringTooLong) }
    return .string(value)
  }

  private func serverValue(_ form: JSON) throws(WriteDataError) -> ServerValue {
    if form.string == "timestamp" { return .timestamp }
    guard let members = form.object, members.count == 1, let delta = form["increment"] else {
      throw dataError(.unknownServerValue)
    }
    switch delta {
    case .int(let value): return .increment(.int(value))
    case .double(let value): return .increment(try number(value))
    default: throw dataError(.unknownServerValue)
    }
  }
}

extension WriteDataReader {
  private mutating func list(_ elements: [JSON]) throws(WriteDataError) -> TreeNode {
    var entries: [TreeMap.Entry] = []
    for (index, element) in elements.enumerated() where !element.isNull {
      let key = Key(unchecked: String(index))
      entries.append(TreeMap.Entry(key: key, node: try child(key, element)))
    }
    return .map(TreeMap(entries))
  }

  /// Reads a child one level down.
  private mutating func child(_ key: Key, _ json: JSON) throws(WriteDataError) -> TreeNode {
    guard depth + keys.count < Path.depthMax else { throw dataError(.path(PathError(.tooDeep, key: key.text))) }
    keys.append(key)
    let above = pathBytes
    // As storage writes it: an integer key has eight bytes, any other its text and an end.
    pathBytes += key.integer == nil ? key.text.utf8.count + 1 : 8
    defer {
      keys.removeLast()
      pathBytes = above
    }
    return try node(json)
  }

  /// The members of an object that are not children.
  private struct Marks {
    var value: JSON?
    var priority: JSON?
    var serverValue: JSON?
  }

  private mutating func object(_ members: [JSON.Member]) throws(WriteDataError) -> TreeNode {
    var marks = Marks()
    var entries: [TreeMap.Entry] = []
    entries.reserveCapacity(members.count)
    let slotsBefore = slots.count
    var owners: [Int] = []
    for member in members {
      if member.key.utf8.first == UInt8(ascii: ".") {
        try read(member, into: &marks)
        continue
      }
      let key = try legalKey(member.key)
      entries.append(TreeMap.Entry(key: key, node: try child(key, member.value)))
      while slotsBefore + owners.count < slots.count { owners.append(entries.count - 1) }
    }
    dropOverwrittenSlots(from: slotsBefore, owners: owners, entries: entries)
    return try node(marks, entries: entries)
  }

  private func legalKey(_ name: String) throws(WriteDataError) -> Key {
    do {
      return try Key(name)
    } catch {
      throw dataError(.path(error))
    }
  }

  private func read(_ member: JSON.Member, into marks: inout Marks) throws(WriteDataError) {
    switch member.key {
    case ".value": marks.value = member.value
    case ".priority": marks.priority = member.value
    case ".sv": marks.serverValue = member.value
    default: throw dataError(.path(PathError(.reservedKey, key: String(member.key.prefix(40)))))
    }
  }

  private mutating func node(_ marks: Marks, entries: [TreeMap.Entry]) throws(WriteDataError) -> TreeNode {
    let node: TreeNode
    if let form = marks.serverValue {
      guard entries.isEmpty, marks.value == nil else { throw dataError(.valueBesideChildren) }
      node = try filled(by: form)
    } else if let value = marks.value, !value.isNull {
      guard entries.isEmpty else { throw dataError(.valueBesideChildren) }
      node = try leaf(value)
    } else {
      node = .map(TreeMap(entries))
    }
    guard let json = marks.priority else { return node }
    switch try priority(json) {
    case .scalar(let scalar): return TreeNode(node.content, priority: scalar)
    case .server(let value):
      // Absence has no priority, so nothing waits to be filled there.
      guard node.exists else { return .absent }
      slots.append(WriteNode.Slot(path: Path(keys: keys), isPriority: true, value: value))
      return TreeNode(node.content, priority: .int(0))
    }
  }

  /// What is under `.value`.
  private mutating func leaf(_ value: JSON) throws(WriteDataError) -> TreeNode {
    switch value {
    case .object(let members):
      guard members.count == 1, let form = value[".sv"] else { throw dataError(.valueNotPrimitive) }
      return try filled(by: form)
    case .array: throw dataError(.valueNotPrimitive)
    default: return try node(value)
    }
  }

  private mutating func filled(by form: JSON) throws(WriteDataError) -> TreeNode {
    slots.append(WriteNode.Slot(path: Path(keys: keys), isPriority: false, value: try serverValue(form)))
    return try counted(.int(0))
  }

  /// Forgets the server values of members that a later member of the same name replaced.
  ///
  /// - `start`: the slots from here on are this object's.
  /// - `owners`: for each of them the index of the entry that it lies in.
  private mutating func dropOverwrittenSlots(from start: Int, owners: [Int], entries: [TreeMap.Entry]) {
    guard !owners.isEmpty, entries.count > 1 else { return }
    var lastIndex: [Key: Int] = [:]
    for (index, entry) in entries.enumerated() { lastIndex[entry.key] = index }
    guard lastIndex.count < entries.count else { return }
    let kept = zip(slots[start...], owners).filter { lastIndex[entries[$0.1].key] == $0.1 }.map(\.0)
    slots.replaceSubrange(start..., with: kept)
  }
}
