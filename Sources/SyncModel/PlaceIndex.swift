import TreeModel

/// What belongs to places: a tree of their keys, in which only places are kept that something belongs to, and those above them.
struct PlaceTree<Content: PlaceContent & Sendable>: Sendable {
  struct Node: Sendable {
    var content = Content()
    var children: [Key: Node] = [:]

    var isEmpty: Bool { content.isEmpty && children.isEmpty }

    fileprivate mutating func update(_ keys: ArraySlice<Key>, _ change: (inout Content) -> Void) {
      guard let key = keys.first else { return change(&content) }
      children[key, default: Node()].update(keys.dropFirst(), change)
      if children[key]?.isEmpty == true { children[key] = nil }
    }
  }

  private(set) var root = Node()

  /// Changes what belongs to a place.
  mutating func update(_ path: Path, _ change: (inout Content) -> Void) { root.update(path.keys[...], change) }

  /// Goes from the root down to a place, and visits what belongs to each on the way, the place itself the last.
  ///
  /// - Returns: the place; nil if nothing belongs to it or to one below.
  @discardableResult
  func walk(to path: Path, _ visit: (Content) -> Void = { _ in }) -> Node? {
    var node = root
    visit(node.content)
    for key in path.keys {
      guard let child = node.children[key] else { return nil }
      node = child
      visit(node.content)
    }
    return node
  }
}

/// What belongs to one place.
protocol PlaceContent {
  init()
  var isEmpty: Bool { get }
}

extension Array: PlaceContent {}

/// Things by the places that they belong to: those at, above and below a place are found without a look at all others.
struct PlaceIndex<Element: Hashable & Sendable>: Sendable {
  private var places = PlaceTree<[Element]>()

  var isEmpty: Bool { places.root.isEmpty }

  /// Adds an element; once, however often it is added.
  mutating func insert(_ element: Element, at path: Path) {
    places.update(path) { if !$0.contains(element) { $0.append(element) } }
  }

  mutating func remove(_ element: Element, at path: Path) {
    places.update(path) { elements in elements.removeAll { $0 == element } }
  }

  /// What is at a place and above it, from the root down.
  func atOrAbove(_ path: Path) -> [Element] {
    var found: [Element] = []
    places.walk(to: path) { found += $0 }
    return found
  }

  /// What is at a place and below it, down to those that cover all else at their place and below.
  func atOrBelow(_ path: Path, downTo covers: (Element) -> Bool = { _ in false }) -> [Element] {
    var found: [Element] = []
    if let place = places.walk(to: path) { Self.collect(place, downTo: covers, into: &found) }
    return found
  }

  /// What is at a place, above and below it.
  func touching(_ path: Path) -> [Element] {
    guard let parent = path.parent else { return atOrBelow(path) }
    return atOrAbove(parent) + atOrBelow(path)
  }

  private static func collect(
    _ place: PlaceTree<[Element]>.Node, downTo covers: (Element) -> Bool, into found: inout [Element]
  ) {
    let covering = place.content.filter(covers)
    found += covering.isEmpty ? place.content : covering
    if !covering.isEmpty { return }
    for child in place.children.values { collect(child, downTo: covers, into: &found) }
  }
}
