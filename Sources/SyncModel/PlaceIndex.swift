import TreeModel

/// Things by the places that they belong to: those at, above and below a place are found without a look at all others.
struct PlaceIndex<Element: Hashable & Sendable>: Sendable {
  private struct Place: Sendable {
    var elements: [Element] = []
    var children: [Key: Place] = [:]

    var isEmpty: Bool { elements.isEmpty && children.isEmpty }

    mutating func insert(_ element: Element, _ keys: ArraySlice<Key>) {
      guard let key = keys.first else {
        if !elements.contains(element) { elements.append(element) }
        return
      }
      children[key, default: Place()].insert(element, keys.dropFirst())
    }

    mutating func remove(_ element: Element, _ keys: ArraySlice<Key>) {
      guard let key = keys.first else { return elements.removeAll { $0 == element } }
      children[key]?.remove(element, keys.dropFirst())
      if children[key]?.isEmpty == true { children[key] = nil }
    }

    func collect(into found: inout [Element]) {
      found += elements
      for child in children.values { child.collect(into: &found) }
    }

    func collect(downTo covers: (Element) -> Bool, into found: inout [Element]) {
      let covering = elements.filter(covers)
      found += covering.isEmpty ? elements : covering
      if !covering.isEmpty { return }
      for child in children.values { child.collect(downTo: covers, into: &found) }
    }
  }

  private var root = Place()

  var isEmpty: Bool { root.isEmpty }

  /// Adds an element; once, however often it is added.
  mutating func insert(_ element: Element, at path: Path) { root.insert(element, path.keys[...]) }

  mutating func remove(_ element: Element, at path: Path) { root.remove(element, path.keys[...]) }

  /// What is at a place and above it, from the root down.
  func atOrAbove(_ path: Path) -> [Element] {
    var place = root
    var found = place.elements
    for key in path.keys {
      guard let child = place.children[key] else { break }
      place = child
      found += place.elements
    }
    return found
  }

  /// What is at a place and below it.
  func atOrBelow(_ path: Path) -> [Element] {
    var found: [Element] = []
    place(path)?.collect(into: &found)
    return found
  }

  /// What is at a place and below it, down to those that cover all else at their place and below.
  func atOrBelow(_ path: Path, downTo covers: (Element) -> Bool) -> [Element] {
    var found: [Element] = []
    place(path)?.collect(downTo: covers, into: &found)
    return found
  }

  /// What is at a place, above and below it.
  func touching(_ path: Path) -> [Element] {
    guard let parent = path.parent else { return atOrBelow(path) }
    return atOrAbove(parent) + atOrBelow(path)
  }

  private func place(_ path: Path) -> Place? {
    var place = root
    for key in path.keys {
      guard let child = place.children[key] else { return nil }
      place = child
    }
    return place
  }
}
