import FunctionsKit
import Synchronization

/// One run of a function, from the moment that a runner takes it.
final class Run: Sendable {
  let id: Int
  let delivery: Delivery
  let startedAt: Int64
  /// When it is abandoned.
  let deadline: Int64
  let runner: Runner
  /// Whether nothing else runs meanwhile.
  let isAlone: Bool
  /// Known once the event's values were read.
  let context = Mutex<FunctionContext?>(nil)

  init(id: Int, delivery: Delivery, startedAt: Int64, deadline: Int64, runner: Runner, isAlone: Bool) {
    self.isAlone = isAlone
    self.id = id
    self.delivery = delivery
    self.startedAt = startedAt
    self.deadline = deadline
    self.runner = runner
  }

  /// Cuts the run off: whatever it asks for from now on has no effect.
  func abandon() {
    context.withLock(\.self)?.abandon()
    runner.cancel()
  }
}
