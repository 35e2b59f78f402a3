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
    tree.receive([(path, 1)], tag: nil)
    tree.accept(WireListen(listened: ListenSpec(path: path), tag: nil))
    tree.unlisten(listener)
    _ = wanted(&tree)
    return tree
  }

  /// What the tree asks of the server; ends count as sent.
  private static func wanted(_ tree: inout ClientTree) -> [String] {
    tree.takeEffects().compactMap { effect in
      switch effect {
      case .listen(let listen): return "listen \(listen.listened.path)"
      case .unlisten(let listen):
        tree.unlistenSent(listen)
        return "unlisten \(listen.listened.path)"
      default: return nil
      }
    }
  }

  @Test("a listen waits for the end of one at its place, above it or below it", arguments: ["/a/b", "/a", "/a/b/c"] as [Path])
  func waits(place: Path) {
    var tree = Self.ending("/a/b")
    _ = tree.listen(ListenSpec(path: place), to: [.value])
    #expect(Self.wanted(&tree) == [] && tree.holdsListens)
    tree.receive([("/a/b", 2)], tag: nil)
    tree.accept(WireListen(listened: ListenSpec(path: "/a/b"), tag: nil))
    tree.refuse(ListenSpec(path: place), .permissionDenied)
    #expect(tree.takeEffects().isEmpty, "what comes before the end is of the earlier listen")
    #expect(tree.serverValue(ListenSpec(path: place)) == nil)
    tree.ended(WireListen(listened: ListenSpec(path: "/a/b"), tag: nil))
    #expect(Self.wanted(&tree) == ["listen \(place)"] && !tree.holdsListens)
  }

  @Test("a listen elsewhere waits for nothing, nor does a window, whose data has its tag")
  func doesNotWait() {
    var tree = Self.ending("/a/b")
    _ = tree.listen(ListenSpec(path: "/a/c"), to: [.value])
    var query = Query()
    query.limit = .last(2)
    _ = tree.listen(ListenSpec(path: "/a/b", query: query), to: [.value])
    #expect(Self.wanted(&tree) == ["listen /a/c", "listen /a/b"] && !tree.holdsListens)
  }

  @Test("each end counts: a listen waits for the last of those that were asked for")
  func waitsForEach() {
    var tree = Self.ending("/a")
    let second = tree.listen(ListenSpec(path: "/a"), to: [.value])
    tree.unlisten(second)
    #expect(Self.wanted(&tree) == [], "the server never heard of one that waited")
    tree.ended(WireListen(listened: ListenSpec(path: "/a"), tag: nil))
    let third = tree.listen(ListenSpec(path: "/a/b"), to: [.value])
    #expect(Self.wanted(&tree) == ["listen /a/b"])
    tree.unlisten(third)
    _ = Self.wanted(&tree)
    tree.unlistenSent(WireListen(listened: ListenSpec(path: "/a/c"), tag: nil))
    _ = tree.listen(ListenSpec(path: "/a"), to: [.value])
    tree.ended(WireListen(listened: ListenSpec(path: "/a/c"), tag: nil))
    #expect(Self.wanted(&tree) == [])
    tree.ended(WireListen(listened: ListenSpec(path: "/a/b"), tag: nil))
    #expect(Self.wanted(&tree) == ["listen /a"])
  }

  @Test("with the connection the ends are lost, and what waited for them is asked for")
  func connectionLost() {
    var tree = Self.ending("/a")
    _ = tree.listen(ListenSpec(path: "/a"), to: [.value])
    tree.connectionLost()
    #expect(Self.wanted(&tree) == ["listen /a"])
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
    tree.accept(WireListen(listened: ListenSpec(path: "/a/b"), tag: nil))
    let shown = tree.takeEffects().compactMap { effect in
      if case .event(let id, let event) = effect, id == below { event.node } else { nil as TreeNode? }
    }
    #expect(shown == [1, .absent])
  }
}
