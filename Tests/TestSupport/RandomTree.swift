public import TreeModel

/// Random keys, values and trees, drawn from small pools so that they meet often.
public struct RandomTree {
  public var random: SplitMix64

  public init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  public static let keys = [
    "a", "b", "ab", "a b", "é", "e\u{301}", "0", "00", "-0", "1", "01", "001", "9", "10", "-1", "-10", "2147483647",
    "2147483648", "-2147483648", "-2147483649", "99999999999999999999", "-", "~", "\u{E000}", "\u{FFFD}", "😀", "😀a", "\u{D7FF}",
    "ключ", "-x", "1a", "Z", "_", "\u{80}",
  ]

  public static let strings = ["", "a", "b", "10", "é", "e\u{301}", "😀", "\u{FFFD}", "tab\t\"quote\"\\", "\u{0}\u{1F}\u{7F}"]
  public static let doubles = [
    0.5, -0.5, 1e21, 1e300, .leastNonzeroMagnitude, 1.5e-7, 4.5623, -128.256, 9_007_199_254_740_993.0, 0.1,
  ]
  public static let integers: [Int64] = [0, 1, -1, 5, 10, 500, .max, .min, 9_007_199_254_740_993, 9_007_199_254_740_992]

  public mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
  public mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }
  public mutating func key() -> Key { Key(unchecked: pick(Self.keys)) }

  public mutating func path(depthMax: Int) -> Path {
    Path(keys: (0..<Int.random(in: 0...depthMax, using: &random)).map { _ in key() })
  }

  public mutating func scalar() -> Scalar {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .bool(chance(2))
    case 1: .int(pick(Self.integers))
    case 2: .number(pick(Self.doubles))
    default: .string(pick(Self.strings))
    }
  }

  public mutating func priority() -> Scalar? {
    guard chance(3) else { return nil }
    return chance(2) ? .number(pick(Self.doubles)) : .string(pick(Self.strings))
  }

  public mutating func node(depthMax: Int) -> TreeNode {
    if depthMax == 0 || chance(3) { return chance(8) ? .absent : .leaf(scalar(), priority: priority()) }
    let count = Int.random(in: 0...6, using: &random)
    let entries = (0..<count).map { _ in TreeMap.Entry(key: key(), node: node(depthMax: depthMax - 1)) }
    return .map(TreeMap(entries), priority: priority())
  }

  public mutating func json(depthMax: Int) -> JSON {
    switch Int.random(in: 0..<(depthMax == 0 ? 5 : 8), using: &random) {
    case 0: .null
    case 1: .bool(chance(2))
    case 2: .int(pick(Self.integers))
    case 3: .double(pick(Self.doubles))
    case 4: .string(pick(Self.strings))
    case 5: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in json(depthMax: depthMax - 1) })
    default:
      .object(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
          JSON.Member(key: pick(Self.keys + Self.strings), value: json(depthMax: depthMax - 1))
        })
    }
  }
}

extension RandomTree {
  /// Beginnings that are too long for an index to tell the strings apart.
  private static let longStrings = ["a", "b", ""].map { String(repeating: "long", count: 64) + $0 }

  /// Keys that are found in bounds only: no child can have them.
  private static let madeUpKeys = ["", "\u{0}", "a/b", "x.y", "\u{1}", "a\u{0}", "$"]

  /// A value for leaves that queries order by.
  public mutating func ranked() -> Scalar {
    chance(6) ? .string(pick(Self.longStrings)) : scalar()
  }

  /// A query whose bounds meet the values of ``scalar()`` and the keys of ``key()`` now and then.
  public mutating func query(_ order: NodeOrder) -> Query {
    var query = Query(order: order)
    if !chance(3) { query.start = bound(order) }
    if !chance(3) { query.end = bound(order) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1: query.limit = .first(Int.random(in: 1...5, using: &random))
    case 2: query.limit = .last(Int.random(in: 1...5, using: &random))
    default: break
    }
    return query
  }

  private mutating func bound(_ order: NodeOrder) -> QueryBound {
    let edge: QueryBound.Edge =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .min
      case 1: .max
      case 2: .key(Key(unchecked: pick(Self.madeUpKeys)))
      default: .key(key())
      }
    return QueryBound(value: order == .key || chance(8) ? nil : ranked(), edge: edge, isInclusive: chance(2))
  }

  /// A child that has something to be ordered by, at `a` and at `b/c`, more often than not.
  public mutating func orderable() -> TreeNode {
    if chance(5) { return .leaf(ranked(), priority: priority()) }
    var entries: [TreeMap.Entry] = [TreeMap.Entry(key: Key(unchecked: "name"), node: .leaf(scalar()))]
    if !chance(3) { entries.append(TreeMap.Entry(key: Key(unchecked: "a"), node: chance(6) ? ["x": 1] : .leaf(ranked()))) }
    if !chance(3) {
      let deep: TreeNode = ["c": .leaf(ranked(), priority: priority())]
      entries.append(TreeMap.Entry(key: Key(unchecked: "b"), node: chance(5) ? .leaf(ranked()) : deep))
    }
    return .map(TreeMap(entries), priority: priority())
  }
}

/// A small generator with a seed, so that a failing case comes again.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) {
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
