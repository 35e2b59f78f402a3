import StorageCore
import Synchronization

@testable import ServerAPI

/// Knows of no functions: every event is settled, or none is.
final class HeldEffects: EffectsWaiting {
  private let isSettled: Bool
  private let asked = Mutex<[EventRecord]>([])

  init(isSettled: Bool = true) {
    self.isSettled = isSettled
  }

  var events: [EventRecord] { asked.withLock { $0 } }

  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> Bool {
    asked.withLock { $0 += events }
    return isSettled
  }
}
