import DequeModule

/// First in, first out: a deque that gives its memory back once it runs empty after a rush.
struct Queue<Element> {
  private var elements = Deque<Element>()
  /// The most elements since the queue was last empty.
  private var peak = 0

  var count: Int { elements.count }
  var isEmpty: Bool { elements.isEmpty }

  mutating func append(_ element: Element) {
    elements.append(element)
    peak = max(peak, elements.count)
  }

  mutating func popFirst() -> Element? {
    guard let element = elements.popFirst() else { return nil }
    if elements.isEmpty {
      if peak > 64 { elements = Deque() }
      peak = 0
    }
    return element
  }

  /// Changes every element.
  mutating func update(_ change: (inout Element) -> Void) {
    for index in elements.indices { change(&elements[index]) }
  }

  /// Takes out what fits, in order.
  mutating func remove(where fits: (Element) -> Bool) -> [Element] {
    let removed = elements.filter(fits)
    if !removed.isEmpty { elements.removeAll(where: fits) }
    return Array(removed)
  }

  /// The first elements, for a look.
  func prefix(_ count: Int) -> [Element] { Array(elements.prefix(count)) }
}
