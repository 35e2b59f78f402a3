import TestSupport
import Testing
import TreeModel

@Suite struct QueryTests {
  private static let dinosaurs: TreeNode = [
    "bruhathkayosaurus": ["height": 25], "lambeosaurus": ["height": 2.1], "linhenykus": ["height": 0.6],
    "pterodactyl": ["height": 0.6], "stegosaurus": ["height": 4], "triceratops": ["name": "Tri"], "unknown": "leaf",
  ]

  private static func keys(_ query: Query) -> [String] { query.window(of: dinosaurs).map(\.key.text) }

  @Test("a child order puts children without the value first, and ties in key order")
  func childOrder() {
    #expect(
      Self.keys(Query(order: .child("/height"))) == [
        "triceratops", "unknown", "linhenykus", "pterodactyl", "lambeosaurus", "stegosaurus", "bruhathkayosaurus",
      ])
  }

  @Test("bounds include their value or not, as asked")
  func bounds() {
    let height = NodeOrder.child("/height")
    #expect(Self.keys(Query(order: height, start: .start(2.1))) == ["lambeosaurus", "stegosaurus", "bruhathkayosaurus"])
    #expect(Self.keys(Query(order: height, start: .start(2.1, isInclusive: false))) == ["stegosaurus", "bruhathkayosaurus"])
    #expect(Self.keys(Query(order: height, start: .start(0), end: .end(0.6))) == ["linhenykus", "pterodactyl"])
    #expect(Self.keys(Query(order: height, end: .end(0.6, isInclusive: false))) == ["triceratops", "unknown"])
    #expect(Self.keys(Query(order: height, start: .start(nil), end: .end(nil))) == ["triceratops", "unknown"])
    #expect(
      Self.keys(Query(order: height, start: .start(nil, isInclusive: false), end: .end(3))) == [
        "linhenykus", "pterodactyl", "lambeosaurus",
      ])
  }

  @Test("a bound's key decides between children of its value")
  func boundKeys() {
    let height = NodeOrder.child("/height")
    let key = Key(unchecked: "linhenykus")
    #expect(
      Self.keys(Query(order: height, start: .start(0.6, key: key, isInclusive: false), end: .end(0.6))) == ["pterodactyl"])
    #expect(Self.keys(Query(order: height, start: .start(0.6, key: key), end: .end(0.6, key: key))) == ["linhenykus"])
    #expect(Self.keys(Query(order: height, start: .start(0.6), end: .end(0.6, key: key, isInclusive: false))) == [])
  }

  @Test("bounds of other kinds than the values cut between the kinds")
  func kinds() {
    #expect(Self.keys(Query(order: .child("/height"), start: .start("a"))) == [])
    #expect(Self.keys(Query(order: .child("/height"), start: .start(true), limit: .first(1))) == ["linhenykus"])
    #expect(Self.keys(Query(order: .value, start: .start("leaf"), end: .end("leaf"))) == ["unknown"])
  }

  @Test("a limit keeps the first or the last children of the bounded window")
  func limits() {
    let height = NodeOrder.child("/height")
    #expect(Self.keys(Query(order: height, limit: .last(2))) == ["stegosaurus", "bruhathkayosaurus"])
    #expect(Self.keys(Query(order: height, start: .start(0.6), limit: .first(1))) == ["linhenykus"])
    #expect(Self.keys(Query(order: height, end: .end(4), limit: .last(1))) == ["stegosaurus"])
    #expect(Self.keys(Query(order: .key, limit: .first(0))) == [])
    #expect(Self.keys(Query(order: .key, limit: .first(100))).count == 7)
  }

  @Test("key order has bounds of keys")
  func keyOrder() {
    let query = Query(
      order: .key, start: .key(Key(unchecked: "linhenykus")), end: .key(Key(unchecked: "t"), isInclusive: false))
    #expect(Self.keys(query) == ["linhenykus", "pterodactyl", "stegosaurus"])
    let all = QueryBound(value: nil, edge: .init("[MIN_NAME]"), isInclusive: false)
    #expect(Self.keys(Query(order: .key, start: all)).count == 7)
    #expect(Self.keys(Query(order: .key, start: QueryBound(value: nil, edge: .init("[MAX_NAME]"), isInclusive: true))) == [])
  }

  @Test("a leaf and an absent node have empty windows")
  func noChildren() {
    for node in [TreeNode.absent, 5, "text"] {
      #expect(Query(order: .value).window(of: node).isEmpty)
      #expect(Query(order: .key, limit: .first(3)).result(of: node) == .absent)
    }
  }

  @Test("a result is a node without the priority of its root")
  func result() {
    let children: TreeNode = ["b": 1, "a": 2, "c": 3]
    let tree = TreeNode.map(children.children, priority: 7)
    #expect(Query(order: .value, limit: .first(2)).result(of: tree) == ["a": 2, "b": 1])
    #expect(Query().result(of: tree) == ["a": 2, "b": 1, "c": 3])
  }

  @Test("a window is what sorting and filtering by hand gives")
  func naive() throws {
    var source = RandomTree(seed: 31)
    for _ in 0..<400 {
      let tree = source.node(depthMax: 3)
      let query = Self.randomQuery(&source)
      var expected = tree.children.sorted(by: query.order.precedes).filter { entry in
        Self.isAfter(query.start, entry, query.order) && Self.isBefore(query.end, entry, query.order)
      }
      switch query.limit {
      case .first(let count): expected = Array(expected.prefix(count))
      case .last(let count): expected = Array(expected.suffix(count))
      case nil: break
      }
      try #require(query.window(of: tree) == expected)
      #expect(query.result(of: tree).children.count == expected.count)
      #expect(expected.allSatisfy(query.admits))
    }
  }

  private static func randomQuery(_ source: inout RandomTree) -> Query {
    var query = Query(order: source.pick([.key, .value, .priority, .child("/a"), .child("/b/a")]))
    let values: [Scalar?] = [nil, false, true, 0, 0.5, .int(.max), "", "a", "é", "😀"]
    if source.chance(2) {
      let key = source.chance(2) || query.order == .key ? source.key() : nil
      query.start = .start(source.pick(values), key: key, isInclusive: source.chance(2))
    }
    if source.chance(2) {
      let key = source.chance(2) || query.order == .key ? source.key() : nil
      query.end = .end(source.pick(values), key: key, isInclusive: source.chance(2))
    }
    if source.chance(2) {
      query.limit = source.chance(2) ? .first(source.pick([0, 1, 2, 3])) : .last(source.pick([0, 1, 2, 3]))
    }
    return query
  }

  /// A child that has just the bound's value and key, to compare with.
  private static func model(_ bound: QueryBound, key: Key, _ order: NodeOrder) -> TreeMap.Entry {
    let node: TreeNode
    switch order {
    case .key: node = true
    case .value: node = bound.value.map { .leaf($0) } ?? .absent
    case .priority: node = .leaf(true, priority: bound.value)
    case .child(let path): node = TreeNode.absent.setting(path, to: bound.value.map { .leaf($0) } ?? .absent)
    }
    return TreeMap.Entry(key: key, node: node)
  }

  private static func isAfter(_ bound: QueryBound?, _ entry: TreeMap.Entry, _ order: NodeOrder) -> Bool {
    guard let bound else { return true }
    if case .key(let key) = bound.edge {
      let place = model(bound, key: key, order)
      return bound.isInclusive ? !order.precedes(entry, place) : order.precedes(place, entry)
    }
    let place = model(bound, key: entry.key, order)
    return bound.isInclusive ? !order.precedes(entry, place) : order.precedes(place, entry)
  }

  private static func isBefore(_ bound: QueryBound?, _ entry: TreeMap.Entry, _ order: NodeOrder) -> Bool {
    guard let bound else { return true }
    if case .key(let key) = bound.edge {
      let place = model(bound, key: key, order)
      return bound.isInclusive ? !order.precedes(place, entry) : order.precedes(entry, place)
    }
    let place = model(bound, key: entry.key, order)
    return bound.isInclusive ? !order.precedes(place, entry) : order.precedes(entry, place)
  }
}

@Suite struct QueryWireTests {
  private static let low = QueryBound(value: 5, edge: .min, isInclusive: true)

  @Test(
    "query objects of the clients are read",
    arguments: [
      ("{}", Query()), (#"{"i":".priority"}"#, Query()), (#"{"i":".key"}"#, Query(order: .key)),
      (#"{"i":"a/b","l":2,"vf":"r"}"#, Query(order: .child("/a/b"), limit: .last(2))),
      (#"{"sp":5,"l":1}"#, Query(start: low, limit: .first(1))), (#"{"l":1}"#, Query(limit: .last(1))),
      (#"{"i":".value","sp":null,"ep":null}"#, Query(order: .value, start: .start(nil), end: .end(nil))),
      (
        #"{"i":".value","sp":5,"sn":"k","ep":5,"en":"k"}"#,
        Query(order: .value, start: .start(5, key: Key(unchecked: "k")), end: .end(5, key: Key(unchecked: "k")))
      ),
      (#"{"i":".value","sp":5,"sn":"[MAX_NAME]","sin":false}"#, Query(order: .value, start: .start(5, isInclusive: false))),
      (#"{"i":".value","ep":5,"en":"[MIN_NAME]","ein":false}"#, Query(order: .value, end: .end(5, isInclusive: false))),
      (
        #"{"i":".key","sp":"a","ep":"b"}"#,
        Query(order: .key, start: .key(Key(unchecked: "a")), end: .key(Key(unchecked: "b")))
      ),
    ])
  func reads(_ source: String, _ query: Query) throws {
    #expect(try Query(wire: JSONParser.parse(source)) == query)
  }

  @Test(
    "a query object that is not legal is refused",
    arguments: [
      ("[]", .notAnObject), (#"{"i":5}"#, .illegalIndex), (#"{"i":"a.b"}"#, .illegalIndex), (#"{"i":"/"}"#, .illegalIndex),
      (#"{"sp":[1]}"#, .illegalBound), (#"{"sp":1,"sn":2}"#, .illegalBound), (#"{"i":".key","sp":5}"#, .illegalKeyBound),
      (#"{"l":0}"#, .illegalLimit), (#"{"l":1.5}"#, .illegalLimit), (#"{"l":"1"}"#, .illegalLimit),
      (#"{"l":1,"vf":"x"}"#, .illegalLimit),
    ] as [(String, QueryError.Code)])
  func refuses(_ source: String, _ code: QueryError.Code) throws {
    let json = try JSONParser.parse(source)
    #expect(thrown(QueryError.self) { _ = try Query(wire: json) }?.code == code)
  }

  @Test(
    "a query comes back from its object",
    arguments: [
      Query(), Query(order: .key, start: .key(Key(unchecked: "a"), isInclusive: false), limit: .first(3)),
      Query(order: .value, start: .start("x", key: Key(unchecked: "k")), end: .end(nil, isInclusive: false)),
      Query(order: .child("/a/b"), start: .start(true, isInclusive: false), end: .end(2.5), limit: .last(9)),
    ])
  func roundTrip(_ query: Query) throws {
    #expect(try Query(wire: query.wire) == query)
  }
}
