import SyncModel
import TestSupport
import Testing
import TreeModel

/// Clients and a server whose messages are delayed by chance, against what they must come to.
@Suite struct ConvergenceTests {
  static let keys = ["a", "b", "c", "10", "9", "forbidden"].map { Key(unchecked: $0) }

  static func path(_ random: inout RandomTree, _ depth: ClosedRange<Int>) -> Path {
    Path(keys: (0..<Int.random(in: depth, using: &random.random)).map { _ in random.pick(Self.keys) })
  }

  static func node(_ random: inout RandomTree, depth: Int = 2) -> TreeNode {
    if depth == 0 || random.chance(2) { return random.chance(5) ? .absent : .leaf(.int(Int64(random.pick([1, 2, 3, 4, 5])))) }
    let entries = (0..<3).map { _ in TreeMap.Entry(key: random.pick(Self.keys), node: node(&random, depth: depth - 1)) }
    return .map(TreeMap(entries), priority: random.chance(4) ? .int(Int64(random.pick([1, 2, 3]))) : nil)
  }

  static func listened(_ random: inout RandomTree) -> ListenSpec {
    let orders: [NodeOrder] = [.priority, .key, .value, .child(Path(keys: [Self.keys[0]]))]
    var query = Query(order: random.pick(orders))
    switch Int.random(in: 0..<4, using: &random.random) {
    case 0: query.limit = .last(2)
    case 1: query.limit = .first(2)
    case 2 where query.order != .key: query.start = .start(.int(2))
    default: break
    }
    return ListenSpec(path: path(&random, 0...2), query: query)
  }

  static func operation(_ random: inout RandomTree) throws -> WriteOperation {
    switch Int.random(in: 0..<6, using: &random.random) {
    case 0: return .remove(path(&random, 1...3))
    case 1: return .set(path(&random, 1...3), .increment(1))
    case 2: return .set(path(&random, 1...3), .timestamp)
    case 3:
      let base = path(&random, 0...1)
      let places = Set((0..<2).map { _ in random.pick(Self.keys) })
      return try .update(base, places.sorted().map { .init(path: base.child($0), value: .node(WriteNode(node(&random)))) })
    default: return .set(path(&random, 1...3), node(&random))
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 534, 1035, 1150, 2402, 2874])
  func clientsComeToWhatTheServerHas(seed: Int) throws {
    try Self.run(ServerModel(clients: 2), seed: seed)
  }

  @Test(arguments: 0..<12) func clientsComeToWhatTheServerHasThoughDataOvertakesItsAnswers(seed: Int) throws {
    var server = ServerModel(clients: 2)
    server.answersAtOnce = false
    try Self.run(server, seed: seed)
  }

  static func run(_ start: ServerModel, seed: Int) throws {
    var server = start
    var random = RandomTree(seed: UInt64(seed))
    var first = ClientModel()
    var second = ClientModel()
    for _ in 0..<120 {
      try Self.step(&first, 0, &server, &random)
      try Self.step(&second, 1, &server, &random)
      if !server.answersAtOnce, random.chance(4) { for client in server.pipes.indices { server.answer(client) } }
    }
    server.answersAtOnce = true
    for client in server.pipes.indices { server.answer(client) }
    for _ in 0..<4000 where server.pipes.contains(where: { !$0.up.isEmpty || !$0.down.isEmpty }) {
      Self.deliver(&first, 0, &server)
      Self.deliver(&second, 1, &server)
    }
    Self.check(&first, server)
    Self.check(&second, server)
  }

  static func step(_ client: inout ClientModel, _ number: Int, _ server: inout ServerModel, _ random: inout RandomTree) throws {
    switch Int.random(in: 0..<10, using: &random.random) {
    case 0, 1:
      let listened = listened(&random)
      let id = client.tree.listen(listened, to: Set(TreeEventKind.allCases))
      client.pictures[id] = .init(listened: listened)
    case 2:
      if let id = client.pictures.keys.min(by: { $0.number < $1.number }), random.chance(2) {
        client.tree.unlisten(id)
        client.pictures[id] = nil
      }
    case 3, 4: client.tree.write(try operation(&random), now: server.now)
    case 5, 6: server.handle(number)
    default:
      if !server.pipes[number].down.isEmpty { client.receive(server.pipes[number].down.removeFirst()) }
    }
    client.pump(&server, as: number)
    for (id, picture) in client.pictures {
      guard let value = client.tree.value(picture.listened), value != picture.value else { continue }
      client.problems.append("listener \(id.number) was not shown the value")
    }
  }

  static func deliver(_ client: inout ClientModel, _ number: Int, _ server: inout ServerModel) {
    server.handle(number)
    if !server.pipes[number].down.isEmpty { client.receive(server.pipes[number].down.removeFirst()) }
    client.pump(&server, as: number)
  }

  static func check(_ client: inout ClientModel, _ server: ServerModel) {
    #expect(client.problems == [])
    #expect(client.tree.pendingWrites.isEmpty)
    for picture in client.pictures.values {
      let node = server.tree[picture.listened.path]
      let expected = picture.listened.isFiltered ? picture.listened.query.result(of: node) : node
      let hasValue = picture.value == expected
      let hasChildren = TreeNode.map(TreeMap(picture.children)) == .map(expected.children)
      #expect(hasValue, "the value of \(picture.listened)")
      // Of several changes at once each names the child before it in the new order, where that may not stand yet.
      #expect(hasChildren, "the children of \(picture.listened)")
    }
  }

  @Test func transactionsOfTwoClientsAddUpExactly() throws {
    let place = Path(keys: [Self.keys[0]])
    var server = ServerModel(clients: 2)
    var first = ClientModel()
    var second = ClientModel()
    var random = SplitMix64(seed: 11)
    for round in 0..<50 {
      for (number, step) in [(0, Int64(1)), (1, Int64(100))] {
        let id =
          number == 0
          ? first.tree.beginTransaction(place, showsGuesses: round % 2 == 0)
          : second.tree.beginTransaction(place, showsGuesses: true)
        if number == 0 { first.steps[id] = step } else { second.steps[id] = step }
      }
      first.pump(&server, as: 0)
      second.pump(&server, as: 1)
      for _ in 0..<4 {
        if Bool.random(using: &random) { Self.deliver(&first, 0, &server) } else { Self.deliver(&second, 1, &server) }
      }
    }
    for _ in 0..<4000 where server.pipes.contains(where: { !$0.up.isEmpty || !$0.down.isEmpty }) {
      Self.deliver(&first, 0, &server)
      Self.deliver(&second, 1, &server)
    }
    var sum: Int64 = 0
    for result in first.results.values { if case .committed = result { sum += 1 } }
    for result in second.results.values { if case .committed = result { sum += 100 } }
    #expect(server.tree[place].scalar?.intValue == sum)
    #expect(first.results.count == 50 && second.results.count == 50)
  }
}
