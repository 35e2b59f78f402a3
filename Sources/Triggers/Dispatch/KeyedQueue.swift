/// What is to be run, in order: one queue for each ordering key, and what is ready now.
///
/// A key's queue exists while its head is ready, running, waiting for its effect to become durable, or waiting for a retry; the
/// others of the key wait behind it. ``finish(_:)`` lets the next one go; until then nothing of the key is ready. Keys
/// that are done are forgotten, so a million keys cost nothing when nothing happens to them.
struct KeyedQueue<Element> {
  /// What waits behind the head of a key.
  struct Backlog {
    var waiting = Queue<Element>()
    /// Whether the head waits for a retry, and everything behind it with it.
    var isHeld = false
    /// Whether more of it is in storage: nothing may be added before that is back.
    var isSpilled = false
    /// Whether the key has no head: it waits to be refilled.
    var isDrained = false
  }

  var ready = Queue<Element>()
  var backlogs: [OrderingKey: Backlog] = [:]
  /// How many wait behind the head of their key.
  var behind = 0
  /// How many of these wait for a retry of their key's head.
  var held = 0
  /// Keys whose queues in memory were drained since they were last asked for.
  var drained: [OrderingKey] = []

  /// How many can run now.
  var readyCount: Int { ready.count }
  /// How many wait for nothing but a runner, or for the one before them. Those behind a retry do not count: they have
  /// their delivery records, and one failing key must not keep the events of others from being loaded.
  var count: Int { ready.count + behind - held }
  var keyCount: Int { backlogs.count }

  /// Adds an element at the end of its key's queue; without a key, or as the head, it is ready at once.
  mutating func add(_ element: Element, to key: OrderingKey?) {
    if admit(element, to: key) { ready.append(element) }
  }

  /// Makes the element the head of its key if there is none, without making it ready: it waits elsewhere.
  /// Otherwise it is added behind the others.
  ///
  /// - Returns: whether it is the head now, and the caller's to keep.
  mutating func admit(_ element: Element, to key: OrderingKey?) -> Bool {
    guard let key else { return true }
    guard backlogs[key] != nil else {
      backlogs[key] = Backlog()
      return true
    }
    backlogs[key]?.waiting.append(element)
    behind += 1
    if isHeld(key) { held += 1 }
    return false
  }

  /// The next element to run; its key is closed until ``finish(_:)``.
  mutating func next() -> Element? { ready.popFirst() }

  /// Makes the head of a key ready again: its time for a retry has come.
  mutating func requeue(_ head: Element) { ready.append(head) }

  /// Lets the next one of the key go: its head is finished.
  mutating func finish(_ key: OrderingKey?) {
    guard let key else { return }
    hold(key, isHeld: false)
    guard let next = backlogs[key]?.waiting.popFirst() else {
      if backlogs[key]?.isSpilled == true {
        backlogs[key]?.isDrained = true
        drained.append(key)
      } else {
        backlogs[key] = nil
      }
      return
    }
    behind -= 1
    ready.append(next)
  }

  // MARK: Retries

  /// Whether an element that is added under the key would wait for a retry of its head.
  func isHeld(_ key: OrderingKey?) -> Bool {
    key.map { backlogs[$0]?.isHeld ?? false } ?? false
  }

  /// Notes whether the head of a key waits for a retry.
  mutating func hold(_ key: OrderingKey?, isHeld: Bool) {
    guard let key, let state = backlogs[key], state.isHeld != isHeld else { return }
    held += isHeld ? state.waiting.count : -state.waiting.count
    backlogs[key]?.isHeld = isHeld
  }

  /// Changes everything behind the head of a key.
  mutating func updateBehind(_ key: OrderingKey?, change: (inout Element) -> Void) {
    guard let key else { return }
    backlogs[key]?.waiting.update(change)
  }

  // MARK: Taking out

  /// Takes out everything of one function that is not running.
  ///
  /// - `fits`: whether an element is the function's.
  /// - `orderingKey`: the key of an element.
  /// - Returns: the elements, and whether each was waiting for a retry of its key's head.
  mutating func removeAll(of function: Int, where fits: (Element) -> Bool, orderingKey: (Element) -> OrderingKey?)
    -> [(element: Element, wasHeld: Bool)]
  {
    let front = ready.remove(where: fits)
    var removed = front.map { ($0, false) }
    for key in backlogs.keys where key.function == function {
      let waiting = backlogs[key]?.waiting.remove { _ in true } ?? []
      behind -= waiting.count
      if isHeld(key) { held -= waiting.count }
      removed += waiting.map { ($0, isHeld(key)) }
      // What is in storage is found when the function is resumed.
      backlogs[key]?.isSpilled = false
      if backlogs[key]?.isDrained == true { backlogs[key] = nil }
    }
    for head in front.compactMap(orderingKey) { backlogs[head] = nil }
    return removed
  }

  /// Forgets elements and keys; what is running of them is the caller's to end.
  mutating func removeAll(where fits: (Element) -> Bool, keysWhere isOver: (OrderingKey) -> Bool) {
    _ = ready.remove(where: fits)
    for key in backlogs.keys where isOver(key) {
      let waiting = backlogs[key]?.waiting.count ?? 0
      behind -= waiting
      if isHeld(key) { held -= waiting }
      backlogs[key] = nil
    }
  }

  /// The first elements that can run, then some that cannot, for a look.
  func prefix(_ count: Int) -> [Element] {
    let front = ready.prefix(count)
    guard front.count < count else { return front }
    return front + backlogs.values.lazy.flatMap { $0.waiting.prefix(count) }.prefix(count - front.count)
  }
}

/// Keys of which a part of the backlog is in storage.
extension KeyedQueue {
  /// Whether nothing of the key is here.
  func isFree(_ key: OrderingKey?) -> Bool { key.map { backlogs[$0] == nil } ?? true }

  func isSpilled(_ key: OrderingKey?) -> Bool { key.map { backlogs[$0]?.isSpilled ?? false } ?? false }

  func isDrained(_ key: OrderingKey?) -> Bool { key.map { backlogs[$0]?.isDrained ?? false } ?? false }

  /// How many wait behind the head of a key.
  func behindCount(_ key: OrderingKey?) -> Int { key.map { backlogs[$0]?.waiting.count ?? 0 } ?? 0 }

  /// Notes that a part of the key's queue is in storage.
  mutating func markSpilled(_ key: OrderingKey?) {
    guard let key else { return }
    backlogs[key]?.isSpilled = true
  }

  /// Takes out what is behind the first so many.
  mutating func trim(_ key: OrderingKey?, to count: Int) -> [Element] {
    guard let key, behindCount(key) > count else { return [] }
    var kept = 0
    let removed = backlogs[key]?.waiting.remove { _ in
      kept += 1
      return kept > count
    }
    behind -= removed?.count ?? 0
    if isHeld(key) { held -= removed?.count ?? 0 }
    return removed ?? []
  }

  /// The keys that were drained since the last call.
  mutating func takeDrained() -> [OrderingKey] {
    guard !drained.isEmpty else { return [] }
    defer { drained = [] }
    return drained
  }

  /// Storage is about to be looked at: what is put there from now on may be missed.
  mutating func expectRefill(_ key: OrderingKey) {
    if isDrained(key) { backlogs[key]?.isSpilled = false }
  }

  /// Puts back what was in storage; the first one is the head, and ready.
  ///
  /// - `isAll`: whether storage had no more when it was looked at.
  mutating func refill(_ key: OrderingKey, _ elements: [Element], isAll: Bool) {
    if !isAll { backlogs[key]?.isSpilled = true }
    guard let head = elements.first else {
      // Nothing was there; what was spilled meanwhile is looked for again.
      if isSpilled(key) { drained.append(key) } else { backlogs[key] = nil }
      return
    }
    backlogs[key]?.isDrained = false
    for element in elements.dropFirst() { backlogs[key]?.waiting.append(element) }
    behind += elements.count - 1
    ready.append(head)
  }
}
