import SyncModel
import TestSupport
import Testing
import TreeModel

/// Data of a whole node has no tag: a listen must not be taken for an earlier one that the server has not ended yet.
@Suite struct HeldListenTests {
  /// A tree that listened to a place, has asked the server to end that, and awaits its answer.
  private static func ending(_ path: Path) -> ClientTree {
    var tree = ClientTree()
    let listener = tree.listen(ListenSpec(path: path), to: [.value])
    _ = wanted(&tree)
    tree.receive([(path, 1)], tag: nil)
    tree.accept(wire(path))
    tree.unlisten(listener)
    _ = wanted(&tree)
    return tree
  }

  private static func wire(_ path: Path) -> WireListen { WireListen(listened: ListenSpec(path: path), tag: nil) }

  /// What the tree asks of the server; it counts as sent.
  private static func wanted(_ tree: inout ClientTree) -> [String] {
    tree.takeEffects().compactMap { effect in
      switch effect {
      case .listen(let listen):
        let hash = tree.hash(of: listen)
        return "listen \(listen.listened.path)\(hash.isEmpty ? "" : " by hash")"
      case .unlisten(let listen):
        tree.unlistenSent(listen)
        return "unlisten \(listen.listened.path)"
      default: return nil
      }
    }
  }

  @Test("until an earlier listen of the place has ended, answers and refusals are of that one")
  func answersOfTheEarlierOne() {
    var tree = Self.ending("/a/b")
    _ = tree.listen(ListenSpec(path: "/a/b"), to: [.value])
    #expect(Self.wanted(&tree) == ["listen /a/b"])
    tree.accept(Self.wire("/a/b"))
    tree.refuse(ListenSpec(path: "/a/b"), .permissionDenied)
    #expect(tree.takeEffects().isEmpty && tree.serverValue(ListenSpec(path: "/a/b")) == nil)
    tree.ended(Self.wire("/a/b"))
    tree.accept(Self.wire("/a/b"))
    #expect(tree.serverValue(ListenSpec(path: "/a/b")) == .absent, "without data in between nothing is asked twice")
    #expect(Self.wanted(&tree) == [])
  }

  @Test(
    "data that may be of an earlier listen at the place, above or below is asked for again, when all that is owed has ended",
    arguments: ["/a/b", "/a", "/a/b/c"] as [Path])
  func doubt(place: Path) {
    var tree = Self.ending("/a/b")
    _ = tree.listen(ListenSpec(path: place), to: [.value])
    #expect(Self.wanted(&tree) == ["listen \(place)"])
    tree.receive([("/a/b", .map(TreeMap([.init(key: Key(unchecked: "c"), node: 2)])))], tag: nil)
    tree.ended(Self.wire("/a/b"))
    tree.accept(Self.wire(place))
    #expect(Self.wanted(&tree) == ["unlisten \(place)"] && tree.holdsListens)
    tree.receive([(place, 3)], tag: nil)
    tree.accept(Self.wire(place))
    tree.refuse(ListenSpec(path: place), .permissionDenied)
    #expect(Self.wanted(&tree) == [], "what comes before the end is of the listen that ends")
    tree.ended(Self.wire(place))
    #expect(Self.wanted(&tree) == ["listen \(place) by hash"] && !tree.holdsListens)
    tree.receive([(place, 4)], tag: nil)
    tree.accept(Self.wire(place))
    #expect(Self.wanted(&tree) == [] && tree.serverValue(ListenSpec(path: place)) == 4)
  }

  @Test("a listen elsewhere is not doubted, nor is a window, whose data has its tag")
  func noDoubt() {
    var tree = Self.ending("/a/b")
    _ = tree.listen(ListenSpec(path: "/a/c"), to: [.value])
    var query = Query()
    query.limit = .last(2)
    let window = ListenSpec(path: "/a/b", query: query)
    _ = tree.listen(window, to: [.value])
    #expect(Self.wanted(&tree) == ["listen /a/c", "listen /a/b"])
    tree.receive([("/a/c", 1)], tag: nil)
    tree.receive([("/a/b", .map(TreeMap([.init(key: Key(unchecked: "k"), node: 1)])))], tag: 1)
    tree.accept(Self.wire("/a/c"))
    tree.accept(WireListen(listened: window, tag: 1))
    #expect(Self.wanted(&tree) == [])
  }

  @Test("who ends a listen that waits to be asked for again asks for nothing, and with the connection the wait is over")
  func endOfAWait() {
    for isLost in [true, false] {
      var tree = Self.ending("/a")
      let second = tree.listen(ListenSpec(path: "/a"), to: [.value])
      _ = Self.wanted(&tree)
      tree.receive([("/a", 2)], tag: nil)
      tree.ended(Self.wire("/a"))
      tree.accept(Self.wire("/a"))
      #expect(Self.wanted(&tree) == ["unlisten /a"])
      if isLost { tree.connectionLost() } else { tree.unlisten(second) }
      #expect(Self.wanted(&tree) == (isLost ? ["listen /a by hash"] : []))
      tree.ended(Self.wire("/a"))
      #expect(Self.wanted(&tree) == [] && !tree.holdsListens)
    }
  }

  @Test("what a listen above still sends is as good for those that take over from it")
  func inherited() {
    var tree = ClientTree()
    let above = tree.listen(ListenSpec(path: "/a"), to: [.value])
    let below = tree.listen(ListenSpec(path: "/a/b"), to: [.value])
    _ = Self.wanted(&tree)
    tree.unlisten(above)
    #expect(Self.wanted(&tree) == ["listen /a/b", "unlisten /a"])
    // Nothing was known, and the server has nothing at /a/b: it sends nothing for it but what the listen above was still told.
    tree.receive([("/a/b", 1)], tag: nil)
    tree.receive([("/a", .absent)], tag: nil)
    tree.accept(Self.wire("/a/b"))
    let shown = tree.takeEffects().compactMap { effect in
      if case .event(let id, let event) = effect, id == below { event.node } else { nil as TreeNode? }
    }
    #expect(shown == [1, .absent])
  }
}
