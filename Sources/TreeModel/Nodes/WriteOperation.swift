/// What a client asks of the tree: one operation, applied whole or not at all.
///
/// Every kind is a list of assignments. A set has one; an update has one for each of its paths; a compare-and-set has one
/// and an expectation. Server values are still open (``WriteNode``).
public struct WriteOperation: Sendable, Hashable {
  /// What the client asked for; every kind is carried out as assignments.
  public enum Kind: String, Sendable, Hashable {
    /// Replaces one place.
    case set
    /// Replaces several places below one path.
    case update
    /// Deletes one place.
    case remove
    /// Replaces one place if it holds what the client believes.
    case compareAndSet
  }

  /// One place and what it gets.
  public struct Assignment: Sendable, Hashable {
    /// What a place gets.
    public enum Value: Sendable, Hashable {
      /// Replaces the node: value and priority.
      case node(WriteNode)
      /// Replaces only the priority of a node that must exist; nil clears it.
      case priority(PriorityValue)
    }

    /// The place; for a priority, that of its node.
    public let path: Path
    /// What it gets.
    public let value: Value
    /// Where it writes, as storage has it: worked out here, for the writer's time is everyone's. A node's priority is a path
    /// of its own beside the node's children, so an update may name both it and a child.
    public let pathBytes: PathBytes

    /// An assignment.
    public init(path: Path, value: Value) {
      self.path = path
      self.value = value
      pathBytes = if case .priority = value { PathBytes(path).priority } else { PathBytes(path) }
    }
  }

  /// A priority to write.
  public enum PriorityValue: Sendable, Hashable {
    /// A string or a finite number; nil clears the priority.
    case scalar(Scalar?)
    /// Filled in when the write is judged.
    case server(ServerValue)
  }

  /// What the client asked for.
  public let kind: Kind
  /// The location that the client addressed; every assignment is there or below.
  public let path: Path
  /// What is written; in an update sorted by place, a node's priority before its children.
  public let assignments: [Assignment]
  /// The data hash that the node at ``path`` must have; the empty string means absent.
  public let expectedHash: String?

  private init(kind: Kind, path: Path, assignments: [Assignment], expectedHash: String? = nil) {
    self.kind = kind
    self.path = path
    self.assignments = assignments
    self.expectedHash = expectedHash
  }

  /// Replaces the node at `path`: value and priority.
  public static func set(_ path: Path, _ node: WriteNode) -> WriteOperation {
    WriteOperation(kind: .set, path: path, assignments: [Assignment(path: path, value: .node(node))])
  }

  /// Replaces the node at `path` by plain data.
  public static func set(_ path: Path, _ node: TreeNode) -> WriteOperation {
    .set(path, WriteNode(node))
  }

  /// Replaces only the priority of the node at `path`, which must exist.
  public static func setPriority(_ path: Path, priority: PriorityValue) -> WriteOperation {
    WriteOperation(kind: .set, path: path, assignments: [Assignment(path: path, value: .priority(priority))])
  }

  /// Deletes the node at `path`.
  public static func remove(_ path: Path) -> WriteOperation {
    WriteOperation(kind: .remove, path: path, assignments: [Assignment(path: path, value: .node(.absent))])
  }

  /// Replaces the node at `path` if its data hash is the expected one; the empty string expects absence.
  public static func compareAndSet(_ path: Path, expectedHash: String, node: WriteNode) -> WriteOperation {
    WriteOperation(
      kind: .compareAndSet, path: path, assignments: [Assignment(path: path, value: .node(node))], expectedHash: expectedHash)
  }

  /// The same operation, on the condition that the node at ``path`` has a data hash; the empty string expects
  /// absence.
  public func expecting(dataHash: String) -> WriteOperation {
    WriteOperation(
      kind: kind == .set ? .compareAndSet : kind, path: path, assignments: assignments, expectedHash: dataHash)
  }

  /// A multi-path update below `path`.
  ///
  /// - Throws: ``WriteOperationError`` if one assignment's place is another's, or lies below it.
  public static func update(_ path: Path, _ assignments: [Assignment]) throws(WriteOperationError) -> WriteOperation {
    let sorted = assignments.sorted { $0.pathBytes < $1.pathBytes }
    for (upper, lower) in zip(sorted, sorted.dropFirst()) where upper.pathBytes.contains(lower.pathBytes) {
      throw WriteOperationError(upper: upper.path, lower: lower.path)
    }
    return WriteOperation(kind: .update, path: path, assignments: sorted)
  }
}

/// An update that names a place and a place inside it.
public struct WriteOperationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The outer place.
  public let upper: Path
  /// The place inside it, or the same place.
  public let lower: Path

  /// A sentence for the client.
  public var description: String {
    upper == lower
      ? "Invalid update: \(upper) is named twice."
      : "Invalid update: \(upper) is an ancestor of \(lower); an update cannot write both."
  }
}

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
    case .priority(let value): return .setPriority(target.path, priority: value)
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
  /// - `meter`: counts what is read.
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
