import TestSupport
import Testing
import TreeModel

@testable import SyncModel

/// Listeners on places of their own: what one of them costs does not depend on how many others there are.
@Suite struct ListenWorkTests {
  private static func place(_ number: Int) -> Path { Path(keys: [Key(unchecked: "list"), Key(unchecked: "p\(number)")]) }

  /// Everything that happens to listeners: they begin, data comes, one update of all their places is shown, sent back and
  /// answered, and they end.
  ///
  /// - Returns: how many listens were looked at on the way.
  private static func looks(listeners count: Int) throws -> Int {
    var tree = ClientTree()
    let ids = (0..<count).map { tree.listen(ListenSpec(path: place($0)), to: [.value]) }
    let wires = tree.takeEffects().compactMap { effect -> WireListen? in
      if case .listen(let wire) = effect { wire } else { nil }
    }
    #expect(wires.map(\.listened.path) == (0..<count).map(place))
    for wire in wires {
      tree.receive([(wire.listened.path, 1)], tag: nil)
      tree.accept(wire)
    }
    #expect(Self.told(&tree) == ids)
    let update = try WriteOperation.update(
      "/list", (0..<count).map { .init(path: place($0), value: .node(WriteNode(.leaf(.int(Int64($0) + 2))))) })
    let write = tree.write(update, now: 0)
    #expect(Set(Self.told(&tree)) == Set(ids))
    for number in 0..<count { tree.receive([(place(number), .leaf(.int(Int64(number) + 2)))], tag: nil) }
    tree.answer(write, nil)
    #expect(Self.told(&tree) == [], "what the server says is what was shown")
    for number in 0..<count { #expect(tree.serverValue(ListenSpec(path: place(number))) == .leaf(.int(Int64(number) + 2))) }
    for id in ids { tree.unlisten(id) }
    #expect(tree.takeEffects().count == count)
    #expect(tree.cache.tree == .absent && !tree.hasListeners)
    return tree.looks
  }

  /// Who was told something, in order.
  private static func told(_ tree: inout ClientTree) -> [ListenerID] {
    tree.takeEffects().compactMap { effect in
      if case .event(let id, _) = effect { id } else { nil }
    }
  }

  @Test("ten times the listeners on places of their own are ten times the work, no more")
  func linear() throws {
    let few = try Self.looks(listeners: 100)
    #expect(try Self.looks(listeners: 1000) == 10 * few)
    #expect(few <= 100 * 8)
  }

  @Test("a listener above takes over from a thousand, and gives back to them; what they showed stays")
  func takingOver() {
    var tree = ClientTree()
    for number in 0..<1000 { _ = tree.listen(ListenSpec(path: Self.place(number)), to: [.value]) }
    for effect in tree.takeEffects() {
      guard case .listen(let wire) = effect else { continue }
      tree.receive([(wire.listened.path, 1)], tag: nil)
      tree.accept(wire)
    }
    _ = tree.takeEffects()
    let above = tree.listen(ListenSpec(path: "/list"), to: [.value])
    let taken = tree.takeEffects()
    #expect(taken.count == 1001)
    let before = tree.looks
    tree.receive([(Self.place(7), 2)], tag: nil)
    // Until the server has sent the whole list, only who listens to the place is told.
    #expect(Self.told(&tree) == [ListenerID(8)])
    #expect(tree.looks - before == 2)
    tree.unlisten(above)
    #expect(tree.takeEffects().count == 1001)
    #expect(tree.value(ListenSpec(path: Self.place(7))) == 2)
    #expect(tree.value(ListenSpec(path: Self.place(8))) == 1)
    #expect(tree.value(ListenSpec(path: "/list")) == nil)
  }

  @Test("what is found by place is what a look at all would find", arguments: 0..<8)
  func index(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    func path() -> Path {
      Path(
        keys: (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Key(unchecked: Bool.random(using: &random) ? "a" : "b")
        })
    }
    var index = PlaceIndex<Int>()
    var all: [Int: Path] = [:]
    for number in 0..<60 {
      all[number] = path()
      index.insert(number, at: all[number] ?? .root)
      if let (gone, place) = all.randomElement(using: &random), number % 3 == 0 {
        all[gone] = nil
        index.remove(gone, at: place)
      }
      let here = path()
      func numbers(_ isIn: (Path) -> Bool) -> Set<Int> { Set(all.filter { isIn($0.value) }.keys) }
      #expect(Set(index.atOrAbove(here)) == numbers { $0.contains(here) })
      #expect(Set(index.atOrBelow(here)) == numbers { here.contains($0) })
      #expect(Set(index.touching(here)) == numbers { $0.contains(here) || here.contains($0) })
      #expect(index.touching(here).count == Set(index.touching(here)).count)
    }
    for (number, place) in all { index.remove(number, at: place) }
    #expect(index.isEmpty)
  }
}
