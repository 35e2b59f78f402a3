import Foundation
import TreeModel

/// What apps give and get as `Any`, and the tree's nodes.
enum NodeValue {
  /// A node as `value` shows it: `NSNull`, `NSNumber`, `String`, an array or a dictionary.
  static func value(of node: TreeNode, isExport: Bool = false) -> Any {
    let content: Any
    switch node.content {
    case .absent: return NSNull()
    case .leaf(let scalar): content = value(of: scalar)
    case .map(let map):
      if !isExport, let elements = list(node) { return elements }
      var members: [String: Any] = [:]
      for entry in map { members[entry.key.text] = value(of: entry.node, isExport: isExport) }
      if isExport, let priority = node.priority { members[".priority"] = value(of: priority) }
      return members
    }
    guard isExport, let priority = node.priority else { return content }
    return [".value": content, ".priority": value(of: priority)] as [String: Any]
  }

  /// The elements of a map that looks like a list: by the same rule as the server's.
  private static func list(_ node: TreeNode) -> [Any]? {
    guard case .array(let elements) = node.jsonValue(.plain) else { return nil }
    return elements.indices.map { index in value(of: node[Key(unchecked: String(index))]) }
  }

  /// A leaf's value.
  static func value(of scalar: Scalar) -> Any {
    switch scalar {
    case .bool(let value): NSNumber(value: value)
    case .int(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value
    }
  }

  /// What an app wants to write.
  ///
  /// - `depth`: how deep the place is.
  /// - Throws: ``DatabaseError/invalidData(_:)`` with a sentence.
  static func node(of value: Any?, priority: Any? = nil, depth: Int) throws(DatabaseError) -> WriteNode {
    var json = try json(of: value, at: "")
    if let priority, !(priority is NSNull) {
      let mark = try self.json(of: priority, at: ".priority")
      switch json {
      case .object(let members) where json[".sv"] == nil:
        json = .object(members.filter { $0.key != ".priority" } + [.init(key: ".priority", value: mark)])
      case .array(let elements):
        json = .object(
          elements.enumerated().map { .init(key: String($0.offset), value: $0.element) } + [
            .init(key: ".priority", value: mark)
          ])
      case .null: break
      default: json = [".value": json, ".priority": mark]
      }
    }
    do {
      return try WriteNode(json: json, depth: depth)
    } catch {
      throw .invalidData(error.description)
    }
  }

  /// A value as JSON; numbers keep their kind.
  static func json(of value: Any?, at place: String, depth: Int = 0) throws(DatabaseError) -> JSON {
    guard let value = unwrapped(value) else { return .null }
    guard depth <= Path.depthMax + 2 else {
      throw .invalidData("Invalid data: the tree is at most \(Path.depthMax) levels deep.")
    }
    if let scalar = try scalar(value, at: place) { return scalar }
    if let list = value as? [Any] {
      var elements: [JSON] = []
      for (index, element) in list.enumerated() {
        elements.append(try json(of: element, at: "\(place)/\(index)", depth: depth + 1))
      }
      return .array(elements)
    }
    guard let map = value as? [AnyHashable: Any] else {
      throw .invalidData(
        "Invalid data at \(place.isEmpty ? "/" : place): \(type(of: value)) is no value of the tree; use strings, numbers, "
          + "booleans, arrays, dictionaries, or setValue(from:) for Codable types.")
    }
    var members: [JSON.Member] = []
    for (key, element) in map {
      guard let name = key.base as? String ?? (key.base as? NSString).map({ "\($0)" }) else {
        throw .invalidData("Invalid data at \(place.isEmpty ? "/" : place): the key \(key) is no string.")
      }
      members.append(.init(key: name, value: try json(of: element, at: "\(place)/\(name)", depth: depth + 1)))
    }
    return .object(members)
  }

  /// Nil for nothing, however it is wrapped.
  private static func unwrapped(_ value: Any?) -> Any? {
    guard let value, !(value is NSNull) else { return nil }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first.flatMap { unwrapped($0.value) }
  }

  private static func scalar(_ value: Any, at place: String) throws(DatabaseError) -> JSON? {
    switch value {
    case let number as NSNumber where type(of: value) is NSNumber.Type: return try json(of: number, at: place)
    case let value as Bool: return .bool(value)
    case let value as Int: return .int(Int64(value))
    case let value as any BinaryInteger:
      if let exact = Int64(exactly: value) { return .int(exact) }
      return .double(Double(value))
    case let value as Double: return try finite(value, at: place)
    case let value as Float: return try finite(Double(value), at: place)
    case let value as String: return .string(value)
    case let value as NSString: return .string("\(value)")
    case let value as NSNumber: return try json(of: value, at: place)
    default: return nil
    }
  }

  private static func finite(_ value: Double, at place: String) throws(DatabaseError) -> JSON {
    guard value.isFinite else { throw .invalidData("Invalid data at \(place.isEmpty ? "/" : place): numbers must be finite.") }
    return .double(value)
  }

  private static func json(of number: NSNumber, at place: String) throws(DatabaseError) -> JSON {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): return .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return try finite(number.doubleValue, at: place)
    case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max): return .double(number.doubleValue)
    default: return .int(number.int64Value)
    }
  }
}
