/// What is to be run, in order: one lane for each order key, and what is ready now.
///
/// A lane exists while its head is ready, running, waiting for its effect to become durable, or waiting for a retry; the
/// others of the lane stand behind it. ``finish(_:)`` lets the next one go; until then nothing of the lane is ready. Lanes
/// that are done are forgotten, so a million keys cost nothing when nothing happens to them.
struct KeyedQueue<Element> {
  struct Lane {
    var waiting = Queue<Element>()
    /// Whether the head waits for a retry, and everything behind it with it.
    var isHeld = false
    /// Whether more of it lies in storage: nothing may be added before that is back.
    var isCut = false
    /// Whether it has no head: it waits to be refilled.
    var isDrained = false
  }

  var ready = Queue<Element>()
  var lanes: [OrderingKey: Lane] = [:]
  /// How many stand behind the heads of their lanes.
  var behind = 0
  /// How many of these wait for a retry of their lane's head.
  var held = 0
  /// Lanes that ran dry since they were last asked for.
  var dry: [OrderingKey] = []

  /// How many can run now.
  var readyCount: Int { ready.count }
  /// How many wait for nothing but a runner, or for the one before them. Those behind a retry do not count: they have
  /// their delivery records, and one failing key must not keep the events of others from being loaded.
  var count: Int { ready.count + behind - held }
  var laneCount: Int { lanes.count }

  /// Adds an element at the end of its lane; without a lane, or as its head, it is ready at once.
  mutating func add(_ element: Element, to lane: OrderingKey?) {
    if admit(element, to: lane) { ready.append(element) }
  }

  /// Makes the element the head of its lane if that is free, without making it ready: it waits elsewhere.
  /// Otherwise it is added behind the others.
  ///
  /// - Returns: whether it is the head now, and the caller's to keep.
  mutating func admit(_ element: Element, to lane: OrderingKey?) -> Bool {
    guard let lane else { return true }
    guard lanes[lane] != nil else {
      lanes[lane] = Lane()
      return true
    }
    lanes[lane]?.waiting.append(element)
    behind += 1
    if isHeld(lane) { held += 1 }
    return false
  }

  /// The next element to run; its lane is closed until ``finish(_:)``.
  mutating func next() -> Element? { ready.popFirst() }

  /// Makes the head of a lane ready again: its time for a retry has come.
  mutating func requeue(_ head: Element) { ready.append(head) }

  /// Lets the next one of the lane go: its head is done with.
  mutating func finish(_ lane: OrderingKey?) {
    guard let lane else { return }
    hold(lane, false)
    guard let next = lanes[lane]?.waiting.popFirst() else {
      if lanes[lane]?.isCut == true {
        lanes[lane]?.isDrained = true
        dry.append(lane)
      } else {
        lanes[lane] = nil
      }
      return
    }
    behind -= 1
    ready.append(next)
  }

  // MARK: Retries

  /// Whether an element that is added to the lane would wait for a retry of its head.
  func isHeld(_ lane: OrderingKey?) -> Bool {
    lane.map { lanes[$0]?.isHeld ?? false } ?? false
  }

  /// Notes whether the head of a lane waits for a retry.
  mutating func hold(_ lane: OrderingKey?, _ isHeld: Bool) {
    guard let lane, let state = lanes[lane], state.isHeld != isHeld else { return }
    held += isHeld ? state.waiting.count : -state.waiting.count
    lanes[lane]?.isHeld = isHeld
  }

  /// Changes everything behind the head of a lane.
  mutating func updateBehind(_ lane: OrderingKey?, _ change: (inout Element) -> Void) {
    guard let lane else { return }
    lanes[lane]?.waiting.update(change)
  }

  // MARK: Taking out

  /// Takes out everything of one function that is not running.
  ///
  /// - `fits`: whether an element is the function's.
  /// - `lane`: the lane of an element.
  /// - Returns: the elements, and whether each was waiting for a retry of its lane's head.
  mutating func removeAll(of function: Int, where fits: (Element) -> Bool, lane: (Element) -> OrderingKey?)
    -> [(element: Element, wasHeld: Bool)]
  {
    let front = ready.remove(where: fits)
    var removed = front.map { ($0, false) }
    for key in lanes.keys where key.function == function {
      let waiting = lanes[key]?.waiting.remove { _ in true } ?? []
      behind -= waiting.count
      if isHeld(key) { held -= waiting.count }
      removed += waiting.map { ($0, isHeld(key)) }
      // What is in storage is found when the function is resumed.
      lanes[key]?.isCut = false
      if lanes[key]?.isDrained == true { lanes[key] = nil }
    }
    for head in front.compactMap(lane) { lanes[head] = nil }
    return removed
  }

  /// Forgets elements and lanes; what is running of them is the caller's to end.
  mutating func removeAll(where fits: (Element) -> Bool, lanesWhere isOver: (OrderingKey) -> Bool) {
    _ = ready.remove(where: fits)
    for key in lanes.keys where isOver(key) {
      let waiting = lanes[key]?.waiting.count ?? 0
      behind -= waiting
      if isHeld(key) { held -= waiting }
      lanes[key] = nil
    }
  }

  /// The first elements that can run, then some that cannot, for a look.
  func prefix(_ count: Int) -> [Element] {
    let front = ready.prefix(count)
    guard front.count < count else { return front }
    return front + lanes.values.lazy.flatMap { $0.waiting.prefix(count) }.prefix(count - front.count)
  }
}

/// Lanes of which a part lies in storage.
extension KeyedQueue {
  /// Whether nothing of the lane is here.
  func isFree(_ lane: OrderingKey?) -> Bool { lane.map { lanes[$0] == nil } ?? true }

  func isCut(_ lane: OrderingKey?) -> Bool { lane.map { lanes[$0]?.isCut ?? false } ?? false }

  func isDrained(_ lane: OrderingKey?) -> Bool { lane.map { lanes[$0]?.isDrained ?? false } ?? false }

  /// How many stand behind the head of a lane.
  func behindCount(_ lane: OrderingKey?) -> Int { lane.map { lanes[$0]?.waiting.count ?? 0 } ?? 0 }

  /// Notes that what belongs to the lane is also in storage.
  mutating func cut(_ lane: OrderingKey?) {
    guard let lane else { return }
    lanes[lane]?.isCut = true
  }

  /// Takes out what stands behind the first so many.
  mutating func trim(_ lane: OrderingKey?, to count: Int) -> [Element] {
    guard let lane, behindCount(lane) > count else { return [] }
    var kept = 0
    let removed = lanes[lane]?.waiting.remove { _ in
      kept += 1
      return kept > count
    }
    behind -= removed?.count ?? 0
    if isHeld(lane) { held -= removed?.count ?? 0 }
    return removed ?? []
  }

  /// The lanes that have run dry since the last call.
  mutating func takeDrained() -> [OrderingKey] {
    guard !dry.isEmpty else { return [] }
    defer { dry = [] }
    return dry
  }

  /// Storage is about to be looked at: what is put there from now on may be missed.
  mutating func expectRefill(_ lane: OrderingKey) {
    if isDrained(lane) { lanes[lane]?.isCut = false }
  }

  /// Puts back what was in storage; the first one is the head, and ready.
  ///
  /// - `isAll`: whether storage had no more when it was looked at.
  mutating func refill(_ lane: OrderingKey, _ elements: [Element], isAll: Bool) {
    if !isAll { lanes[lane]?.isCut = true }
    guard let head = elements.first else {
      // Nothing was there; what was put there meanwhile is looked for again.
      if isCut(lane) { dry.append(lane) } else { lanes[lane] = nil }
      return
    }
    lanes[lane]?.isDrained = false
    for element in elements.dropFirst() { lanes[lane]?.waiting.append(element) }
    behind += elements.count - 1
    ready.append(head)
  }
}
