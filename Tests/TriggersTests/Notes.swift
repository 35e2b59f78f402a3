import Synchronization

/// A list that functions write to while they run.
final class Notes<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  func add(_ value: Value) { values.withLock { $0.append(value) } }
  var all: [Value] { values.withLock(\.self) }
  var count: Int { values.withLock(\.count) }
}
