/// A node as a client sends it: a ``TreeNode`` in which some places are still to be filled by the server.
public struct WriteNode: Sendable, Hashable {
  /// A place to fill, relative to the node; `isPriority` fills the priority of the node there.
  public struct Slot: Sendable, Hashable {
    /// The place, relative to the node.
    public let path: Path
    /// Whether the priority of the node there is filled, not its value.
    public let isPriority: Bool
    /// What the server puts there.
    public let value: ServerValue

    /// A place to fill.
    public init(path: Path, isPriority: Bool, value: ServerValue) {
      self.path = path
      self.isPriority = isPriority
      self.value = value
    }
  }

  /// The node, with an integer 0 in every slot.
  public let node: TreeNode
  /// The places to fill.
  public let slots: [Slot]

  /// Data with places to fill; each slot must lie in the node.
  public init(_ node: TreeNode, slots: [Slot] = []) {
    self.node = node
    self.slots = slots
  }

  /// Absence: writing it deletes.
  public static let absent = WriteNode(.absent)

  /// The time of the operation.
  public static let timestamp = WriteNode(.leaf(.int(0)), slots: [Slot(path: .root, isPriority: false, value: .timestamp)])

  /// What is at the path, plus `delta`.
  public static func increment(_ delta: Int64) -> WriteNode {
    WriteNode(.leaf(.int(0)), slots: [Slot(path: .root, isPriority: false, value: .increment(.int(delta)))])
  }

  /// The node with every slot filled.
  ///
  /// - Parameters:
  ///   - now: the operation's time, in milliseconds since 1970.
  ///   - current: reads what is at a slot's place before the operation: its leaf, or its priority.
  public func resolved<E: Error>(now: Int64, current: (Slot) throws(E) -> Scalar?) throws(E) -> TreeNode {
    if slots.isEmpty { return node }
    var fills: [Fill] = []
    fills.reserveCapacity(slots.count)
    for slot in slots {
      let base: Scalar? = if case .increment = slot.value { try current(slot) } else { nil }
      let scalar = slot.value.resolved(now: now, current: base)
      fills.append(Fill(keys: slot.path.keys, isPriority: slot.isPriority, scalar: scalar))
    }
    return node.filling(fills, depth: 0)
  }
}

/// What the server puts at a place.
private struct Fill {
  let keys: [Key]
  let isPriority: Bool
  let scalar: Scalar
}

extension TreeNode {
  /// The node with all of these filled, whose first `depth` keys lead here: one walk, in which each map is made once.
  fileprivate func filling(_ fills: [Fill], depth: Int) -> TreeNode {
    var node = self
    var below: [TreeModel.Key: [Fill]] = [:]
    for fill in fills {
      if fill.keys.count > depth {
        below[fill.keys[depth], default: []].append(fill)
      } else if fill.isPriority {
        node = TreeNode(node.content, priority: fill.scalar)
      } else {
        node = .leaf(fill.scalar, priority: node.priority)
      }
    }
    if below.isEmpty { return node }
    let entries = node.children.map { entry in
      below[entry.key].map { TreeMap.Entry(key: entry.key, node: entry.node.filling($0, depth: depth + 1)) } ?? entry
    }
    return .map(TreeMap(entries), priority: node.priority)
  }
}

/// A value that the server fills in when it applies a write (firebase-js-sdk, `core/util/ServerValues.ts`).
public enum ServerValue: Sendable, Hashable {
  /// Milliseconds since 1970: one reading of the clock for a whole operation.
  case timestamp
  /// The current number plus this one; this one where there is no number.
  case increment(Scalar)

  /// The value that is written.
  ///
  /// - Parameters:
  ///   - now: the operation's time, in milliseconds since 1970.
  ///   - current: what is at the path before the operation.
  public func resolved(now: Int64, current: Scalar?) -> Scalar {
    switch self {
    case .timestamp: .int(now)
    case .increment(let delta): Self.sum(current, delta)
    }
  }

  /// Int64 addition where both are integers and it fits, double addition otherwise; a base that is no number counts
  /// as absent.
  static func sum(_ base: Scalar?, _ delta: Scalar) -> Scalar {
    switch (base, delta) {
    case (.int(let x), .int(let y)):
      let (sum, overflow) = x.addingReportingOverflow(y)
      return overflow ? finite(Double(x) + Double(y)) : .int(sum)
    case (.some(let x), let y):
      guard let x = x.doubleValue, let y = y.doubleValue else { return delta }
      return finite(x + y)
    case (nil, let y): return y
    }
  }
  /// A sum that the tree can hold: JSON has no infinities, so one beyond a double's range stays at its end.
  private static func finite(_ sum: Double) -> Scalar {
    .number(sum.isFinite ? sum : sum > 0 ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude)
  }
}

/// How much data one write may carry. It is counted while the data is read, so that what is too much gets no further.
public struct WriteBounds: Sendable, Hashable {
  /// Leaves, priorities and deletions.
  public let leavesMax: Int
  /// Bytes of leaf values and of the paths to them.
  public let bytesMax: Int

  /// Bounds of a write.
  public init(leavesMax: Int, bytesMax: Int) {
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
  }

  /// Whatever is there is read.
  public static let none = WriteBounds(leavesMax: .max, bytesMax: .max)

  /// Values of JSON that may be parsed for such a write: a leaf with its priority is at most six, and lies in maps of its own.
  public var valuesMax: Int { leavesMax > .max / 10 ? .max : leavesMax * 10 }
}

/// What is left of the bounds of a write.
struct WriteMeter {
  private var leavesLeft: Int
  private var bytesLeft: Int

  init(_ bounds: WriteBounds) {
    leavesLeft = bounds.leavesMax
    bytesLeft = bounds.bytesMax
  }

  /// Counts a leaf, a priority or a deletion.
  mutating func count(bytes: Int) throws(WriteDataError) {
    leavesLeft -= 1
    bytesLeft -= bytes
    if leavesLeft < 0 || bytesLeft < 0 { throw WriteDataError(.tooLarge) }
  }
}

/// Why a body, or the path it was sent to, cannot be a write; the text tells the client what to change.
public struct WriteDataError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// A key or a path is not legal.
    case path(PathError)
    /// Two paths of an update lie inside each other.
    case overlap(WriteOperationError)
    /// The body of an update is not an object.
    case updateNotAnObject
    /// `.value` or `.sv` has children beside it.
    case valueBesideChildren
    /// `.value` is an array or an object.
    case valueNotPrimitive
    /// `.sv` is neither `"timestamp"` nor `{"increment": number}`.
    case unknownServerValue
    /// A server value where only plain data may stand.
    case serverValueNotAllowed
    /// A priority that is neither string, number, null nor server value.
    case illegalPriority
    /// A string of more than ``WriteNode/stringBytesMax`` bytes.
    case stringTooLong
    /// A number that is not finite.
    case numberNotFinite
    /// More than the ``WriteBounds`` allow.
    case tooLarge
  }

  /// What is wrong.
  public let code: Code
  /// Where in the data, relative to the place written.
  public let path: Path

  /// A fault at a place of the data.
  public init(_ code: Code, at path: Path = .root) {
    self.code = code
    self.path = path
  }

  /// A sentence for the client, with the place of the fault.
  public var description: String {
    switch code {
    case .path(let error): error.description
    case .overlap(let error): error.description
    case .updateNotAnObject:
      "Invalid data: an update needs a JSON object whose names are paths; use a set to replace the whole location."
    case .valueBesideChildren: "\(subject): .value and .sv cannot have children beside them, only .priority."
    case .valueNotPrimitive: "\(subject): .value must be a string, a number, a boolean, null or a server value."
    case .unknownServerValue:
      "\(subject): unknown server value; write {\".sv\": \"timestamp\"} or {\".sv\": {\"increment\": 1}}."
    case .serverValueNotAllowed: "\(subject): server values are not allowed in imported data; write the value itself."
    case .illegalPriority: "\(subject): .priority must be a string, a finite number, null or a server value."
    case .stringTooLong: "\(subject): the string is longer than \(WriteNode.stringBytesMax) bytes of UTF-8; split it."
    case .numberNotFinite: "\(subject): numbers must be finite."
    // The hosted service's own words (Firebase REST reference, `writeSizeLimit`).
    case .tooLarge: "Data to write exceeds the maximum size that can be modified with a single request."
    }
  }

  private var subject: String { "Invalid data at \(path)" }
}
