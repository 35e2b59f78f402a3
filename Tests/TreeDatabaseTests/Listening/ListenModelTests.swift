import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Random writes from several clients against random listens: each mirror equals the tree, at every revision.
struct ListenModelTests {
  /// What is made scarce, so that the ways around it are taken.
  enum Scarcity: CaseIterable {
    case nothing
    /// Windows have nearly no reserve.
    case reserve
    /// Little is kept while snapshots are read.
    case longTimeout
    /// The hub's queue is nearly always full.
    case backlog
    /// Lanes may be hardly any bytes behind.
    case executors
    /// Clients stop reading now and then.
    case readers

    var limits: ListenLimits {
      var limits = ListenLimits()
      limits.reserveMax = self == .nothing ? 256 : 1
      switch self {
      case .nothing, .reserve: break
      case .longTimeout: limits.heldMessagesMax = 1
      case .backlog: limits.backlogMax = 12
      case .executors: limits.executorBytesMax = 300
      case .readers: limits.outstandingBytesMax = 400
      }
      return limits
    }
  }

  /// The last of the connections stop reading at times; nobody waits for their acknowledgements.
  private static let readers = (all: 6, steady: 4)

  /// The last two found nodes that are empty in the middle of a merge.
  private static let seeds: [UInt64] = [1, 2, 30, 48]

  @Test(
    "Each listener's mirror equals a read at the same revision, always, and acknowledgements come behind it",
    arguments: seeds, Scarcity.allCases)
  func mirrors(seed: UInt64, scarcity: Scarcity) async throws {
    try await ListenFixture.run(limits: scarcity.limits) { fixture in
      let sinks = (0..<Self.readers.all).map { fixture.connect($0 % 2) }
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<3 {
          group.addTask { await Self.write(30, in: fixture, to: sinks, RandomTree(seed: seed &* 31 &+ UInt64(writer))) }
        }
        await Self.listen(30, in: fixture, sinks, stalling: scarcity == .readers, RandomTree(seed: seed))
      }
      for (index, sink) in sinks.enumerated() { fixture.executors[index % 2].sync { sink.read() } }
      let states = try fixture.states()
      var resyncs = 0
      for (index, sink) in sinks.enumerated() {
        let (mirrors, isFlushed, isOutOfOrder, strayEvents) = await fixture.settled(sink, executor: index % 2) {
          ($0.mirrors.values, $0.isFullyFlushed, $0.isOutOfOrder, $0.strayEvents)
        }
        #expect(isFlushed)
        #expect(!isOutOfOrder)
        #expect(strayEvents == 0)
        for mirror in mirrors {
          #expect(mirror.differences(from: states) == [], "seed \(seed), \(scarcity)")
          resyncs += mirror.snapshots - 1
        }
      }
      // What is not scarce misses nothing.
      if scarcity == .nothing || scarcity == .reserve { #expect(resyncs == 0) }
    }
  }

  /// Begins listens and ends some, with a write after each, so that they begin in the midst of things.
  private static func listen(
    _ count: Int, in fixture: ListenFixture, _ sinks: [MirrorSink], stalling: Bool, _ random: RandomTree
  ) async {
    var random = random
    for _ in 0..<count {
      let index = random.pick(Array(sinks.indices))
      let (sink, executor) = (sinks[index], fixture.executors[index % 2])
      let request = request(&random, fixture.namespace)
      let stops = random.chance(6)
      let stalls = stalling && index >= readers.steady && random.chance(2)
      executor.sync {
        let listening = sink.begin(request)
        if stops, let listening { sink.stop(listening) }
        if stalls { sink.isStalled = true } else { sink.read() }
      }
      _ = try? await fixture.write(operation(&random))
    }
  }

  /// Writes, and after each write marks what the client that wrote has seen by the time of its acknowledgement.
  private static func write(_ count: Int, in fixture: ListenFixture, to sinks: [MirrorSink], _ random: RandomTree) async {
    var random = random
    for _ in 0..<count {
      var request = CommitRequest(namespace: fixture.namespace, actor: .anonymous, operations: [operation(&random)])
      if random.chance(5) { request.operations.append(operation(&random)) }
      let sink = random.pick(Array(sinks[..<readers.steady]))
      let wanted = request
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        fixture.database.submit(wanted) { result in
          sink.listener?.afterDeliveries {
            if case .success(let receipt) = result { sink.markAll(receipt.revision) }
            continuation.resume()
          }
        }
      }
    }
  }

  private static func request(_ random: inout RandomTree, _ namespace: NamespaceID) -> ListenRequest {
    let format = random.chance(3) ? TreeFormat.plain : .export
    let path = path(&random, depthMax: 2)
    guard random.chance(2) else { return ListenRequest(namespace: namespace, path: path, format: format) }
    var query = Query(order: random.pick([.key, .value, .priority, .child("a"), .child("b/a")]))
    if random.chance(3) { query.start = bound(&random, query.order, isStart: true) }
    if random.chance(3) { query.end = bound(&random, query.order, isStart: false) }
    if !random.chance(4) {
      let count = 1 + Int(random.random.next() % 3)
      query.limit = random.chance(2) ? .first(count) : .last(count)
    }
    return ListenRequest(namespace: namespace, path: path, query: query, format: format)
  }

  private static func bound(_ random: inout RandomTree, _ order: NodeOrder, isStart: Bool) -> QueryBound {
    if order == .key { return .key(random.key(), isInclusive: random.chance(2)) }
    let value = random.chance(4) ? nil : random.scalar()
    let key = random.chance(3) ? random.key() : nil
    return isStart
      ? .start(value, key: key, isInclusive: random.chance(2)) : .end(value, key: key, isInclusive: random.chance(2))
  }

  /// Keys from a small pool, so that writes and listens meet.
  private static func path(_ random: inout RandomTree, depthMax: UInt64) -> Path {
    Path(
      keys: (0..<random.random.next() % (depthMax + 1)).map { _ in Key(unchecked: random.pick(["a", "b", "é", "1", "-0"])) })
  }

  private static func operation(_ random: inout RandomTree) -> WriteOperation {
    let path = path(&random, depthMax: 3)
    switch random.random.next() % 10 {
    case 0: return .remove(path)
    case 1: return .setPriority(path, priority: .scalar(random.chance(3) ? nil : random.priority()))
    case 2, 3, 4:
      let children = Set((0..<3).map { _ in random.key() }).map { key in
        let place = random.chance(3) ? path.child(key).child(random.key()) : path.child(key)
        return random.chance(6)
          ? WriteOperation.Assignment(path: path.child(key), value: .priority(.scalar(random.priority())))
          : WriteOperation.Assignment(
            path: place, value: .node(WriteNode(random.chance(4) ? .absent : random.node(depthMax: 2))))
      }
      return (try? .update(path, children)) ?? .remove(path)
    default: return .set(path, random.node(depthMax: 3))
    }
  }
}
