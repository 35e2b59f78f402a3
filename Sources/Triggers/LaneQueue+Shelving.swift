/// Lanes of which a part lies in storage.
extension LaneQueue {
  /// Whether nothing of the lane is here.
  func isFree(_ lane: LaneKey?) -> Bool { lane.map { lanes[$0] == nil } ?? true }

  func isCut(_ lane: LaneKey?) -> Bool { lane.map { lanes[$0]?.isCut ?? false } ?? false }

  func isDry(_ lane: LaneKey?) -> Bool { lane.map { lanes[$0]?.isDry ?? false } ?? false }

  /// How many stand behind the head of a lane.
  func behindCount(_ lane: LaneKey?) -> Int { lane.map { lanes[$0]?.waiting.count ?? 0 } ?? 0 }

  /// Notes that what belongs to the lane is also in storage.
  mutating func cut(_ lane: LaneKey?) {
    guard let lane else { return }
    lanes[lane]?.isCut = true
  }

  /// Takes out what stands behind the first so many.
  mutating func trim(_ lane: LaneKey?, to count: Int) -> [Element] {
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
  mutating func takeDry() -> [LaneKey] {
    guard !dry.isEmpty else { return [] }
    defer { dry = [] }
    return dry
  }

  /// Storage is about to be looked at: what is put there from now on may be missed.
  mutating func expectRefill(_ lane: LaneKey) {
    if isDry(lane) { lanes[lane]?.isCut = false }
  }

  /// Puts back what was in storage; the first one is the head, and ready.
  ///
  /// - Parameter isAll: whether storage had no more when it was looked at.
  mutating func refill(_ lane: LaneKey, _ elements: [Element], isAll: Bool) {
    if !isAll { lanes[lane]?.isCut = true }
    guard let head = elements.first else {
      // Nothing was there; what was put there meanwhile is looked for again.
      if isCut(lane) { dry.append(lane) } else { lanes[lane] = nil }
      return
    }
    lanes[lane]?.isDry = false
    for element in elements.dropFirst() { lanes[lane]?.waiting.append(element) }
    behind += elements.count - 1
    ready.append(head)
  }
}
