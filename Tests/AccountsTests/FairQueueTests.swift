import Testing

@testable import Accounts

struct FairQueueTests {
  private static let bounds = FairQueue<String>.Bounds(total: 6, perNetwork: 4, perAccount: 2)

  /// Adds elements `NETWORK/ACCOUNT#NUMBER`, and says which were turned away: themselves, or whom they displaced.
  private func fill(_ queue: inout FairQueue<String>, _ elements: [String]) -> [String] {
    var gone: [String] = []
    for element in elements {
      let network = String(element.prefix { $0 != "/" })
      let account = String(element.prefix { $0 != "#" })
      switch queue.add(element, network: network, account: account) {
      case .waits: break
      case .displaced(let other): gone.append(other)
      case .refused: gone.append(element)
      }
    }
    return gone
  }

  private func drain(_ queue: inout FairQueue<String>) -> [String] {
    var order: [String] = []
    while let next = queue.next() { order.append(next) }
    return order
  }

  @Test("networks take turns, and within a network its accounts do")
  func turns() {
    var queue = FairQueue<String>(bounds: Self.bounds)
    #expect(fill(&queue, ["a/x#1", "a/x#2", "a/y#3", "a/z#4", "b/x#5", "c/x#6"]) == [])
    #expect(queue.count == 6)
    #expect(drain(&queue) == ["a/x#1", "b/x#5", "c/x#6", "a/y#3", "a/z#4", "a/x#2"])
    #expect(queue.count == 0)
  }

  @Test("who comes late waits for one turn of everybody else, however much they have waiting")
  func late() {
    var queue = FairQueue<String>(bounds: Self.bounds)
    #expect(fill(&queue, ["a/x#1", "a/y#2", "a/z#3", "a/u#4"]) == [])
    #expect(queue.next() == "a/x#1")
    #expect(fill(&queue, ["b/x#5"]) == [])
    #expect(drain(&queue) == ["a/y#2", "b/x#5", "a/z#3", "a/u#4"])
  }

  @Test("an account and a network have their bounds")
  func bounds() {
    var queue = FairQueue<String>(bounds: Self.bounds)
    #expect(fill(&queue, ["a/x#1", "a/x#2", "a/x#3", "b/x#4"]) == ["a/x#3"])
    #expect(fill(&queue, ["a/y#5", "a/y#6", "a/z#7"]) == ["a/z#7"])
    #expect(queue.count == 5)
  }

  @Test("where all is full, the network that has most gives up its youngest place")
  func displacing() {
    var queue = FairQueue<String>(bounds: Self.bounds)
    #expect(fill(&queue, ["a/x#1", "a/x#2", "a/y#3", "a/y#4", "b/x#5", "b/y#6"]) == [])
    #expect(fill(&queue, ["c/x#7"]) == ["a/x#2"])
    #expect(fill(&queue, ["d/x#8"]) == ["a/y#4"])
    #expect(queue.count == 6)
    // Two each is fair: a third of the same network pushes nobody out.
    #expect(fill(&queue, ["b/z#9"]) == ["b/z#9"])
    #expect(drain(&queue) == ["a/x#1", "b/x#5", "c/x#7", "d/x#8", "a/y#3", "b/y#6"])
  }

  @Test("where everybody has one place, a newcomer is turned away")
  func crowd() {
    var queue = FairQueue<String>(bounds: Self.bounds)
    #expect(fill(&queue, ["a/x#1", "b/x#2", "c/x#3", "d/x#4", "e/x#5", "f/x#6", "g/x#7"]) == ["g/x#7"])
  }
}
