import StorageCore
import Testing
import TreeModel

@testable import Triggers

struct KeyedQueueTests {
  private func key(_ name: String, function: Int = 0) -> OrderingKey {
    OrderingKey(function: function, namespace: NamespaceID(rawValue: 1), capture: Key(unchecked: name))
  }

  @Test func theSecondOfAKeyWaitsForTheFirst() {
    var queue = KeyedQueue<Int>()
    queue.add(1, to: key("bob"))
    queue.add(2, to: key("bob"))
    queue.add(3, to: key("eve"))
    #expect([queue.next(), queue.next(), queue.next()] == [1, 3, nil])
    queue.finish(key("bob"))
    #expect(queue.next() == 2)
    queue.finish(key("bob"))
    queue.finish(key("eve"))
    #expect(queue.keyCount == 0)
    #expect(queue.count == 0)
  }

  @Test func withoutAKeyEverythingIsReady() {
    var queue = KeyedQueue<Int>()
    for i in 0..<5 { queue.add(i, to: nil) }
    #expect((0..<5).compactMap { _ in queue.next() } == [0, 1, 2, 3, 4])
    queue.finish(nil)
  }

  @Test func aHeadThatWaitsForARetryHoldsItsKeyOnly() {
    var queue = KeyedQueue<Int>()
    queue.add(1, to: key("bob"))
    #expect(queue.next() == 1)
    queue.add(2, to: key("bob"))
    queue.add(3, to: key("eve"))
    #expect(queue.next() == 3)
    #expect(queue.next() == nil)
    queue.requeue(1)
    #expect(queue.next() == 1)
    queue.finish(key("bob"))
    #expect(queue.next() == 2)
  }

  @Test func anAdmittedHeadIsTheCallersToKeep() {
    var queue = KeyedQueue<Int>()
    let first = queue.admit(1, to: key("bob"))
    let second = queue.admit(2, to: key("bob"))
    #expect(first && !second)
    #expect(queue.next() == nil)
    #expect(queue.count == 1)
    queue.finish(key("bob"))
    #expect(queue.next() == 2)
  }

  @Test func takingOutAFunctionLeavesRunningHeadsTheirKeys() {
    var queue = KeyedQueue<(Int, Int)>()
    let running = key("running"), ready = key("ready"), other = key("other", function: 1)
    queue.add((0, 1), to: running)
    _ = queue.next()
    queue.add((0, 2), to: running)
    queue.add((0, 3), to: ready)
    queue.add((0, 4), to: ready)
    queue.add((1, 5), to: other)
    let removed = queue.removeAll(of: 0, where: { $0.0 == 0 }, orderingKey: { $0.1 == 3 ? ready : nil })
    #expect(removed.map(\.element.1).sorted() == [2, 3, 4])
    #expect(queue.count == 1)
    queue.add((0, 6), to: running)
    #expect(queue.next()?.1 == 5)
    #expect(queue.next() == nil)
    queue.finish(running)
    #expect(queue.next()?.1 == 6)
  }

  /// Random adding, finishing and retrying: no key ever has two elements out, and every key is in order.
  @Test(arguments: 0..<20) func anyMixKeepsEveryKeyInOrder(seed: UInt64) {
    var random = SystemlessRandom(seed)
    var queue = KeyedQueue<(Int, Int)>()
    var added = [Int](repeating: 0, count: 5), seen = added
    var out: [(Int, Int)] = []
    for _ in 0..<2000 {
      switch random.next() % 4 {
      case 0, 1:
        let at = Int(random.next() % 5)
        queue.add((at, added[at]), to: key("\(at)"))
        added[at] += 1
      case 2:
        if let next = queue.next() {
          #expect(!out.contains { $0.0 == next.0 })
          #expect(next.1 == seen[next.0])
          out.append(next)
        }
      default:
        guard !out.isEmpty else { continue }
        let done = out.remove(at: Int(random.next() % UInt64(out.count)))
        if random.next() % 3 == 0 {
          queue.requeue(done)
        } else {
          seen[done.0] += 1
          queue.finish(key("\(done.0)"))
        }
      }
    }
  }
}

/// Numbers from a seed.
struct SystemlessRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 2 &+ 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
