/// First in, first out, on one array.
struct Queue<Element> {
  private var elements: [Element?] = []
  private var first = 0

  var count: Int { elements.count - first }
  var isEmpty: Bool { first == elements.count }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    guard first < elements.count else { return nil }
    let element = elements[first].take()
    first += 1
    if first == elements.count {
      elements.removeAll(keepingCapacity: first <= 64)
      first = 0
    } else if first >= 64, first * 2 >= elements.count {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }

  /// Changes every element.
  mutating func update(_ change: (inout Element) -> Void) {
    for index in elements.indices.dropFirst(first) {
      guard var element = elements[index].take() else { continue }
      change(&element)
      elements[index] = element
    }
  }

  /// Takes out what fits, in order.
  mutating func remove(where fits: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    var kept: [Element?] = []
    for case let element? in elements[first...] {
      if fits(element) { removed.append(element) } else { kept.append(element) }
    }
    elements = kept
    first = 0
    return removed
  }

  /// The first elements, for a look.
  func prefix(_ count: Int) -> [Element] {
    elements[first...].prefix(count).compactMap(\.self)
  }
}
