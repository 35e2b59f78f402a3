import Synchronization

/// Links that were opened lately, in memory.
///
/// A clock: when the bound is reached, a hand goes round and drops what nobody asked for since it last came by. All of the
/// bound is in use, and a link that is found costs no more than a mark.
final class LinkCache: Sendable {
  private struct Slot {
    let entry: LinkEntry
    /// Whether it was asked for since the hand came by.
    var wasUsed = false
  }

  private struct State {
    var places: [String: Int] = [:]
    var slots: [Slot] = []
    var hand = 0
    var weight = 0
    /// Raised when the settings or a link change: what was read before is not taken in any more.
    var generation = 0
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  var generation: Int { state.withLock(\.generation) }

  /// How many links are in memory.
  var count: Int { state.withLock(\.slots.count) }

  subscript(key: String) -> LinkEntry? {
    state.withLock { state in
      guard let place = state.places[key] else { return nil }
      if !state.slots[place].wasUsed { state.slots[place].wasUsed = true }
      return state.slots[place].entry
    }
  }

  /// Takes in an entry that was judged by the settings of a generation.
  func insert(_ entry: LinkEntry, generation: Int) {
    state.withLock { state in
      guard state.generation == generation else { return }
      if let place = state.places[entry.record.key] {
        state.weight += entry.weight - state.slots[place].entry.weight
        state.slots[place] = Slot(entry: entry)
      } else {
        state.places[entry.record.key] = state.slots.count
        state.slots.append(Slot(entry: entry))
        state.weight += entry.weight
      }
      while state.weight > bytesMax, state.slots.count > 1 { Self.dropOne(&state) }
    }
  }

  func removeAll() {
    state.withLock { state in
      state = State(generation: state.generation + 1)
    }
  }

  /// Forgets a link that has changed, also where somebody has just read what it was before.
  func remove(_ key: String) {
    state.withLock { state in
      state.generation += 1
      if let place = state.places[key] { Self.remove(at: place, &state) }
    }
  }

  private static func dropOne(_ state: inout State) {
    while true {
      if state.hand >= state.slots.count { state.hand = 0 }
      guard state.slots[state.hand].wasUsed else { break }
      state.slots[state.hand].wasUsed = false
      state.hand += 1
    }
    remove(at: state.hand, &state)
  }

  /// The last one takes the place that becomes free.
  private static func remove(at place: Int, _ state: inout State) {
    let entry = state.slots[place].entry
    state.places[entry.record.key] = nil
    state.weight -= entry.weight
    let last = state.slots.removeLast()
    guard place < state.slots.count else { return }
    state.slots[place] = last
    state.places[last.entry.record.key] = place
  }
}
