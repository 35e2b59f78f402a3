import StorageCore
import Synchronization

@testable import RealtimeAPI

/// Knows of no functions: says of every event the same.
final class HeldEffects: EffectsWaiting {
  private let state: EffectsState
  private let asked = Mutex<[EventRecord]>([])

  init(_ state: EffectsState = .settled(unfinished: [])) {
    self.state = state
  }

  var events: [EventRecord] { asked.withLock { $0 } }

  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState {
    asked.withLock { $0 += events }
    return state
  }
}
