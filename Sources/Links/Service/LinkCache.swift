import Synchronization

/// A short link, ready to be opened: checked once, with what most visitors get already computed.
///
/// A class, so that the cache hands it on for one reference count. Kept small: there may be a hundred thousand.
package final class LinkEntry: Sendable {
  package let record: LinkRecord
  /// Why it is not opened: the settings do not allow what it says any more, or it is switched off.
  package let error: LinkError?
  /// Where a desktop goes, and whether that is a fallback.
  package let desktop: (url: String, isFallback: Bool)
  /// Whether an iPad gets something else than a desktop, so that who may be either is asked.
  package let differsOnIPads: Bool

  init(_ record: LinkRecord, settings: LinkSettings) {
    self.record = record
    let parameters = record.parameters ?? LinkParameters()
    do throws(LinkError) {
      guard let prefix = record.prefix, settings.domains.contains(prefix) else {
        throw .invalid("The prefix of this link is not among the \"domains\" of the link settings any more.")
      }
      _ = try LinkChecker(settings: settings).check(parameters, below: prefix)
      guard record.disabledAt == nil else {
        throw .disabled
      }
      error = nil
    } catch {
      self.error = error
    }
    let opening = LinkOpening(parameters, address: record.address, settings: settings)
    differsOnIPads = opening.differsOnIPads
    if case .redirect(let url, let isFallback) = opening.outcome(for: .desktop, click: "") {
      desktop = (url, isFallback)
    } else {
      desktop = (opening.destination, false)
    }
  }

  /// Whether an administrator has switched it off.
  package var isDisabled: Bool { record.disabledAt != nil }

  /// About how many bytes it takes in memory, its slot in the cache included.
  var weight: Int { 400 + record.key.utf8.count + record.canonical.utf8.count + desktop.url.utf8.count }

  /// What happens to a visitor.
  package func opening(settings: LinkSettings) -> LinkOpening {
    LinkOpening(record.parameters ?? LinkParameters(), address: record.address, settings: settings)
  }
}

/// Links that were opened lately, in memory.
///
/// A clock: when the bound is reached, a hand goes round and drops what nobody asked for since it last came by. All of the
/// bound is in use, and a link that is found costs no more than a mark.
final class LinkCache: Sendable {
  private struct Slot {
    let entry: LinkEntry
    /// Whether it was used since the hand came by.
    var wasUsed = false
  }

  private struct State {
    var indices: [String: Int] = [:]
    var slots: [Slot] = []
    var hand = 0
    var weight = 0
    /// Raised when the settings or a link change: an entry that was read before is not inserted.
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
      guard let index = state.indices[key] else { return nil }
      if !state.slots[index].wasUsed { state.slots[index].wasUsed = true }
      return state.slots[index].entry
    }
  }

  /// Inserts an entry that was checked by the settings of a generation.
  func insert(_ entry: LinkEntry, generation: Int) {
    state.withLock { state in
      guard state.generation == generation else { return }
      if let index = state.indices[entry.record.key] {
        state.weight += entry.weight - state.slots[index].entry.weight
        state.slots[index] = Slot(entry: entry)
      } else {
        state.indices[entry.record.key] = state.slots.count
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

  /// Forgets a link that has changed, also where a concurrent request has just read what it was before.
  func remove(_ key: String) {
    state.withLock { state in
      state.generation += 1
      if let index = state.indices[key] { Self.remove(at: index, &state) }
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

  /// The last slot moves to the index that becomes free.
  private static func remove(at index: Int, _ state: inout State) {
    let entry = state.slots[index].entry
    state.indices[entry.record.key] = nil
    state.weight -= entry.weight
    let last = state.slots.removeLast()
    guard index < state.slots.count else { return }
    state.slots[index] = last
    state.indices[last.entry.record.key] = index
  }
}
