import TestSupport
import TreeModel

/// A random expression, with the plainest way to evaluate it: over whole trees, value by value, as the specification has it.
///
/// It shares nothing with the product's own evaluator but the text that ``text`` writes.
indirect enum NaiveExpression {
  case literal(NaiveValue)
  case auth([String])
  case variable
  case now
  case snapshotValue(NaiveSnapshot)
  case test(NaiveSnapshot, String)
  case hasChild(NaiveSnapshot, NaiveExpression)
  case hasChildren(NaiveSnapshot, [NaiveExpression])
  case unary(String, NaiveExpression)
  case binary(String, NaiveExpression, NaiveExpression)
  case choice(NaiveExpression, NaiveExpression, NaiveExpression)
  case method(NaiveExpression, String, [NaiveExpression])
  case length(NaiveExpression)

  struct Failure: Error {}

  /// What it is evaluated with.
  struct World {
    let before: TreeNode
    let after: TreeNode
    let place: [String]
    let key: String
    let auth: JSON?
    let now: Int64
  }
}

/// A place, as an expression names it.
struct NaiveSnapshot {
  enum Root: String { case root, data, newData }
  enum Step {
    case child(NaiveExpression)
    case parent
  }
  let root: Root
  let steps: [Step]
}

enum NaiveValue: Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case object

  init(_ scalar: Scalar?) {
    switch scalar {
    case nil: self = .null
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    }
  }

  /// Whole doubles are integers, as everywhere in the tree.
  static func number(_ value: Double) -> NaiveValue { Int64(exactly: value).map { .int($0) } ?? .double(value) }

  var double: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  func isSame(as other: NaiveValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.string(let x), .string(let y)): Array(x.utf8) == Array(y.utf8)
    case (.int(let x), .int(let y)): x == y
    case (.double(let x), .double(let y)): x == y
    default: false
    }
  }
}

extension NaiveSnapshot {
  var text: String {
    root.rawValue
      + steps.map { step in
        switch step {
        case .child(let path): ".child(\(path.text))"
        case .parent: ".parent()"
        }
      }.joined()
  }

  /// The node there; nil where no place can be.
  func node(_ world: NaiveExpression.World) throws -> TreeNode? {
    var place: [String]? = root == .root ? [] : world.place
    for step in steps {
      switch step {
      case .parent:
        if place?.isEmpty == true { throw NaiveExpression.Failure() }
        place?.removeLast()
      case .child(let path):
        guard case .string(let text) = try path.value(world) else { throw NaiveExpression.Failure() }
        let keys = text.split(separator: "/").map(String.init)
        let isLegal = !keys.isEmpty && keys.allSatisfy { key in !key.contains { ".$#[]".contains($0) } }
        if isLegal { place? += keys } else { place = nil }
      }
    }
    guard let place else { return nil }
    let tree = root == .newData ? world.after : world.before
    return place.reduce(tree) { node, key in node[Key(unchecked: key)] }
  }
}

extension NaiveExpression {
  var text: String {
    switch self {
    case .literal(.null): "null"
    case .literal(.bool(let value)): "\(value)"
    case .literal(.int(let value)): value < 0 ? "(0 - \(value.magnitude))" : "\(value)"
    case .literal(.double(let value)): "\(value)"
    case .literal(.string(let value)): "'\(value)'"
    case .literal(.object): "auth"
    case .auth(let names): "auth" + names.map { ".\($0)" }.joined()
    case .variable: "$k"
    case .now: "now"
    case .snapshotValue(let snapshot): "\(snapshot.text).val()"
    case .test(let snapshot, let name): "\(snapshot.text).\(name)()"
    case .hasChild(let snapshot, let name): "\(snapshot.text).hasChild(\(name.text))"
    case .hasChildren(let snapshot, let names): "\(snapshot.text).hasChildren([\(names.map(\.text).joined(separator: ", "))])"
    case .unary(let mark, let operand): "\(mark)(\(operand.text))"
    case .binary(let mark, let left, let right): "(\(left.text) \(mark) \(right.text))"
    case .choice(let condition, let yes, let no): "(\(condition.text) ? \(yes.text) : \(no.text))"
    case .method(let target, let name, let arguments):
      "(\(target.text)).\(name)(\(arguments.map(\.text).joined(separator: ", ")))"
    case .length(let target): "(\(target.text)).length"
    }
  }

  func value(_ world: World) throws -> NaiveValue {
    switch self {
    case .literal(let value): return value
    case .auth(let names): return try Self.member(names, of: world.auth)
    case .variable: return .string(world.key)
    case .now: return .int(world.now)
    case .snapshotValue(let snapshot):
      guard let node = try snapshot.node(world) else { return .null }
      return node.children.isEmpty ? NaiveValue(node.scalar) : .object
    case .test(let snapshot, let name): return try Self.test(name, try snapshot.node(world) ?? .absent)
    case .hasChild(let snapshot, let name):
      let child = NaiveSnapshot(root: snapshot.root, steps: snapshot.steps + [.child(name)])
      return .bool(try child.node(world)?.exists == true)
    case .hasChildren(let snapshot, let names):
      for name in names { guard case .string = try name.value(world) else { throw Failure() } }
      return .bool(
        try names.allSatisfy { name in
          try NaiveSnapshot(root: snapshot.root, steps: snapshot.steps + [.child(name)]).node(world)?.exists == true
        })
    case .unary("!", let operand): return .bool(try !operand.bool(world))
    case .unary(_, let operand):
      let value = try operand.value(world)
      if case .int(let number) = value, number != .min { return .int(-number) }
      guard let number = value.double else { throw Failure() }
      return .number(-number)
    case .binary("&&", let left, let right): return .bool(try left.bool(world) ? try right.bool(world) : false)
    case .binary("||", let left, let right): return .bool(try left.bool(world) ? true : try right.bool(world))
    case .binary(let mark, let left, let right): return try Self.binary(mark, left.value(world), right.value(world))
    case .choice(let condition, let yes, let no): return try (condition.bool(world) ? yes : no).value(world)
    case .method(let target, let name, let arguments):
      guard case .string(let text) = try target.value(world) else { throw Failure() }
      return try Self.method(name, text, try arguments.map { try $0.value(world) })
    case .length(let target):
      guard case .string(let text) = try target.value(world) else { throw Failure() }
      return .int(Int64(text.utf16.count))
    }
  }

  func bool(_ world: World) throws -> Bool {
    guard case .bool(let value) = try value(world) else { throw Failure() }
    return value
  }

  private static func member(_ names: [String], of auth: JSON?) throws -> NaiveValue {
    var json = auth ?? .null
    for name in names { json = json[name] ?? .null }
    switch json {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .double(let value): return .number(value)
    case .string(let value): return .string(value)
    case .array, .object: return .object
    }
  }

  private static func test(_ name: String, _ node: TreeNode) throws -> NaiveValue {
    switch name {
    case "exists": return .bool(node.exists)
    case "isString": return .bool(node.scalar?.stringValue != nil)
    case "isNumber": return .bool(node.scalar?.isNumber == true)
    case "isBoolean": if case .bool = node.scalar { return .bool(true) } else { return .bool(false) }
    case "hasChildren": return .bool(!node.children.isEmpty)
    default: return NaiveValue(node.priority)
    }
  }

  private static func method(_ name: String, _ text: String, _ arguments: [NaiveValue]) throws -> NaiveValue {
    let texts = try arguments.map { argument in
      guard case .string(let text) = argument else { throw Failure() }
      return Array(text.utf8)
    }
    let bytes = Array(text.utf8)
    func isAt(_ index: Int, _ part: [UInt8]) -> Bool { bytes[index...].starts(with: part) }
    switch name {
    case "contains": return .bool((0...bytes.count).contains { isAt($0, texts[0]) })
    case "beginsWith": return .bool(isAt(0, texts[0]))
    case "endsWith": return .bool(bytes.count >= texts[0].count && isAt(bytes.count - texts[0].count, texts[0]))
    case "toUpperCase": return .string(text.uppercased())
    case "toLowerCase": return .string(text.lowercased())
    default:
      if texts[0].isEmpty { return .string(text) }
      var result: [UInt8] = []
      var index = 0
      while index < bytes.count {
        if isAt(index, texts[0]) {
          result += texts[1]
          index += texts[0].count
        } else {
          result.append(bytes[index])
          index += 1
        }
      }
      return .string(String(decoding: result, as: UTF8.self))
    }
  }

  private static func binary(_ mark: String, _ left: NaiveValue, _ right: NaiveValue) throws -> NaiveValue {
    switch mark {
    case "==", "===": return .bool(left.isSame(as: right))
    case "!=", "!==": return .bool(!left.isSame(as: right))
    case "+": return try sum(left, right)
    case "<", "<=", ">", ">=":
      if case .string(let x) = left, case .string(let y) = right {
        let (a, b) = (Array(x.utf16), Array(y.utf16))
        let isLess = a.lexicographicallyPrecedes(b)
        let isGreater = b.lexicographicallyPrecedes(a)
        return .bool(mark == "<" ? isLess : mark == "<=" ? !isGreater : mark == ">" ? isGreater : !isLess)
      }
      guard let x = left.double, let y = right.double else { throw Failure() }
      return .bool(mark == "<" ? x < y : mark == "<=" ? x <= y : mark == ">" ? x > y : x >= y)
    default:
      guard let x = left.double, let y = right.double else { throw Failure() }
      // The numbers of the test are small: whole results are exact in doubles too.
      switch mark {
      case "-": return .number(x - y)
      case "*": return .number(x * y)
      case "/": return .number(y == 0 ? .nan : x / y)
      default: return .number(x.truncatingRemainder(dividingBy: y))
      }
    }
  }

  private static func sum(_ left: NaiveValue, _ right: NaiveValue) throws -> NaiveValue {
    if let x = left.double, let y = right.double { return .number(x + y) }
    func text(_ value: NaiveValue) throws -> String {
      switch value {
      case .string(let text): return text
      case .int(let number): return "\(number)"
      case .double(let number): return number.isNaN ? "NaN" : "\(number)"
      default: throw Failure()
      }
    }
    return .string(try text(left) + text(right))
  }
}
