import TestSupport
import TreeModel

/// Draws expressions, data and operations from small pools, so that they meet often.
struct RandomRules {
  static let keys = ["a", "b", "c", "x"]
  static let texts = ["", "a", "b", "ab", "aab", "é", "A", "a/b", "/a/", "a.b", "c/x"]

  var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
  mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

  // MARK: Data

  mutating func scalar() -> Scalar {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .bool(chance(2))
    case 1: .int(Int64.random(in: -2...5, using: &random))
    case 2: .number(pick([0.5, 2.5, -1.5]))
    default: .string(pick(Self.texts))
    }
  }

  mutating func node(depth: Int) -> TreeNode {
    if depth == 0 || chance(3) { return chance(5) ? .absent : .leaf(scalar(), priority: chance(4) ? .string("p") : nil) }
    return .map(
      TreeMap(
        Self.keys.compactMap { key in
          chance(2) ? TreeMap.Entry(key: Key(unchecked: key), node: node(depth: depth - 1)) : nil
        }))
  }

  mutating func path(depthMax: Int) -> Path {
    Path(keys: (0..<Int.random(in: 0...depthMax, using: &random)).map { _ in Key(unchecked: pick(Self.keys)) })
  }

  mutating func auth() -> JSON? {
    chance(3) ? nil : ["uid": .string(pick(Self.keys)), "n": .int(Int64.random(in: 0...3, using: &random)), "o": ["x": true]]
  }

  // MARK: Expressions

  mutating func condition(_ depth: Int, newData: Bool) -> NaiveExpression {
    if depth == 0 { return .test(snapshot(1, newData), pick(["exists", "isString", "isNumber", "isBoolean", "hasChildren"])) }
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return .unary("!", condition(depth - 1, newData: newData))
    case 1, 2: return .binary("&&", condition(depth - 1, newData: newData), condition(depth - 1, newData: newData))
    case 3, 4: return .binary("||", condition(depth - 1, newData: newData), condition(depth - 1, newData: newData))
    case 5:
      return .choice(
        condition(depth - 1, newData: newData), condition(depth - 1, newData: newData), condition(depth - 1, newData: newData))
    case 6: return .binary(pick(["==", "!=", "===", "!=="]), value(depth - 1, newData), value(depth - 1, newData))
    case 7: return .binary(pick(["<", "<=", ">", ">="]), number(depth - 1, newData), number(depth - 1, newData))
    default:
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .hasChild(snapshot(depth, newData), text(depth - 1, newData))
      case 1: return .hasChildren(snapshot(depth, newData), [text(0, newData), text(depth - 1, newData)])
      default:
        return .method(text(depth - 1, newData), pick(["contains", "beginsWith", "endsWith"]), [text(depth - 1, newData)])
      }
    }
  }

  /// Something that may be anything, also what makes its place fail.
  private mutating func value(_ depth: Int, _ newData: Bool) -> NaiveExpression {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .literal(pick([.null, .bool(true), .int(1), .string("a")]))
    case 1: .auth(pick([["uid"], ["n"], ["o"], ["o", "x"], ["none"], ["none", "x"]]))
    case 2: .test(snapshot(depth, newData), "getPriority")
    case 3: number(depth, newData)
    case 4: text(depth, newData)
    default: .snapshotValue(snapshot(depth, newData))
    }
  }

  private mutating func number(_ depth: Int, _ newData: Bool) -> NaiveExpression {
    if depth <= 0 { return .literal(chance(2) ? .int(Int64.random(in: -1...4, using: &random)) : .double(0.5)) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .snapshotValue(snapshot(depth - 1, newData))
    case 1: return .auth(["n"])
    case 2: return .now
    case 3: return .length(text(depth - 1, newData))
    case 4: return .unary("-", number(depth - 1, newData))
    default: return .binary(pick(["-", "*", "/", "%"]), number(depth - 1, newData), number(depth - 1, newData))
    }
  }

  private mutating func text(_ depth: Int, _ newData: Bool) -> NaiveExpression {
    if depth <= 0 { return .literal(.string(pick(Self.texts))) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .variable
    case 1: return .auth([pick(["uid", "none"])])
    case 2: return .snapshotValue(snapshot(depth - 1, newData))
    case 3: return .method(text(depth - 1, newData), "replace", [text(depth - 1, newData), text(depth - 1, newData)])
    case 4: return .method(text(depth - 1, newData), pick(["toUpperCase", "toLowerCase"]), [])
    default: return .binary("+", text(depth - 1, newData), chance(2) ? text(depth - 1, newData) : number(0, newData))
    }
  }

  private mutating func snapshot(_ depth: Int, _ newData: Bool) -> NaiveSnapshot {
    let root = pick(newData ? [NaiveSnapshot.Root.root, .data, .newData] : [.root, .data])
    let steps: [NaiveSnapshot.Step] = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      chance(5) ? .parent : .child(chance(3) ? text(depth - 1, newData) : .literal(.string(pick(Self.keys + ["a/b", ""]))))
    }
    return NaiveSnapshot(root: root, steps: steps)
  }
}
