import Synchronization

/// Links that were opened lately, in memory.
///
/// Two generations: what is looked up moves to the young one; when that has grown to half of the bound the old one is
/// dropped. So what is used stays, and nothing has to be sorted.
final class LinkCache: Sendable {
  private struct State {
    var young: [String: LinkEntry] = [:]
    var old: [String: LinkEntry] = [:]
    var weight = 0
    /// Raised when the settings change: what was judged by earlier ones is not taken in any more.
    var generation = 0
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  var generation: Int { state.withLock(\.generation) }

  subscript(key: String) -> LinkEntry? {
    state.withLock { state in
      if let entry = state.young[key] { return entry }
      guard let entry = state.old.removeValue(forKey: key) else { return nil }
      add(entry, &state)
      return entry
    }
  }

  /// Takes in an entry that was judged by the settings of a generation.
  func insert(_ entry: LinkEntry, generation: Int) {
    state.withLock { state in
      guard state.generation == generation else { return }
      add(entry, &state)
    }
  }

  func removeAll() {
    state.withLock { state in
      state.young = [:]
      state.old = [:]
      state.weight = 0
      state.generation += 1
    }
  }

  /// Forgets a link that changes.
  func remove(_ key: String) {
    state.withLock { state in
      state.young[key] = nil
      state.old[key] = nil
    }
  }

  private func add(_ entry: LinkEntry, _ state: inout State) {
    if state.young.updateValue(entry, forKey: entry.record.key) == nil { state.weight += entry.weight }
    guard state.weight > bytesMax / 2 else { return }
    state.old = state.young
    state.young = [:]
    state.weight = 0
  }
}
