extension WriteOperation {
  /// A set as clients send it: the body of a PUT, or of a socket's `p`.
  ///
  /// - Parameters:
  ///   - target: the node to replace, or the priority to replace.
  ///   - json: the data; null, `{}` and `[]` delete the node, null clears a priority.
  ///   - bounds: how much there may be.
  /// - Throws: ``WriteDataError`` if the data is not legal there, or too much.
  public static func set(_ target: PathTarget, json: JSON, bounds: WriteBounds = .none) throws(WriteDataError)
    -> WriteOperation
  {
    var meter = WriteMeter(bounds)
    let assignment = try Assignment(target, json: json, meter: &meter)
    switch assignment.value {
    case .node(let node): return .set(target.path, node)
    case .priority(let value): return .setPriority(target.path, value)
    }
  }

  /// A multi-path update as clients send it: the body of a PATCH, or of a socket's `m`.
  ///
  /// - Parameters:
  ///   - path: the location that the names are relative to.
  ///   - json: an object; its names are paths that may be deep and may end in `/.priority`, null deletes.
  ///   - bounds: how much there may be at all the paths together.
  /// - Throws: ``WriteDataError`` if the body is no object, a path or its data is not legal, two paths overlap, or it is too
  ///   much.
  public static func update(_ path: Path, json: JSON, bounds: WriteBounds = .none) throws(WriteDataError) -> WriteOperation {
    guard let members = json.object else { throw WriteDataError(.updateNotAnObject) }
    var lastIndex: [Key: Int] = [:]
    for (index, member) in members.enumerated() { lastIndex[Key(unchecked: member.key)] = index }
    var assignments: [Assignment] = []
    var meter = WriteMeter(bounds)
    for (index, member) in members.enumerated() where lastIndex[Key(unchecked: member.key)] == index {
      assignments.append(try Assignment(try target(member.key, below: path), json: member.value, meter: &meter))
    }
    do {
      return try .update(path, assignments)
    } catch {
      throw WriteDataError(.overlap(error))
    }
  }

  private static func target(_ name: String, below path: Path) throws(WriteDataError) -> PathTarget {
    do throws(PathError) {
      let target = try PathTarget(parsing: name)
      // A name such as "/" would replace the very location that the update is to merge into.
      if target.path.isRoot, !target.isPriority { throw PathError(.emptyKey, key: name) }
      let depth = path.depth + target.path.depth
      guard depth <= Path.depthMax else { throw PathError(.tooDeep, key: name) }
      return PathTarget(path: path.appending(target.path), isPriority: target.isPriority)
    } catch {
      throw WriteDataError(.path(error))
    }
  }
}

extension WriteOperation.Assignment {
  /// Reads what a client wants at a place.
  ///
  /// - Parameter meter: counts what is read.
  init(_ target: PathTarget, json: JSON, meter: inout WriteMeter) throws(WriteDataError) {
    let pathBytes = target.path.keys.reduce(0) { $0 + $1.text.utf8.count + 1 }
    guard target.isPriority else {
      let node = try WriteNode(json: json, depth: target.path.depth, pathBytes: pathBytes, meter: &meter)
      self.init(path: target.path, value: .node(node))
      return
    }
    var reader = WriteDataReader(depth: target.path.depth, pathBytes: pathBytes, meter: meter)
    let value = try reader.priority(json)
    if json.isNull { try reader.meter.count(bytes: pathBytes) }
    meter = reader.meter
    self.init(path: target.path, value: .priority(value))
  }
}
