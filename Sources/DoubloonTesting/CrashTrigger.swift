import Synchronization
import Triggers

/// Takes a copy of the data at the moment a failpoint is reached: what a process that died there would leave behind.
final class CrashTrigger: Sendable {
  private struct State {
    var armed: (place: Failpoint.Place, folder: TestFolder)?
    var result: Result<TestFolder, TestServerError>?
  }

  private let state = Mutex(State())

  func arm(_ place: Failpoint.Place, copying folder: TestFolder) {
    state.withLock { $0 = State(armed: (place, folder)) }
  }

  /// The copy, if the place was reached since the trigger was armed; it is then no longer armed.
  func disarm() -> Result<TestFolder, TestServerError>? {
    state.withLock { state in
      defer { state = State() }
      return state.result
    }
  }

  /// Called where the process could die; only the first call at the armed place counts.
  func reach(_ place: Failpoint.Place) {
    state.withLock { state in
      guard let armed = state.armed, armed.place == place, state.result == nil else { return }
      do throws(TestServerError) {
        state.result = .success(try armed.folder.copy())
      } catch {
        state.result = .failure(error)
      }
    }
  }
}
