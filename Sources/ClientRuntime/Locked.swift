import Foundation

/// A value behind a lock, on every system that the library is for: the standard library's own lock needs a newer one.
///
/// `@unchecked Sendable`: `value` is touched only between `lock()` and `unlock()` of the one lock.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  /// Runs the closure alone. It must not call anything that takes the same lock.
  package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  /// A copy of the value.
  package var copy: Value { withLock { $0 } }
}

/// What may be handed to another thread although its type does not say so: a completion closure of the app, which runs once, on
/// the callback queue.
///
/// `@unchecked Sendable`: the app is told where its closures run, and each is called there and nowhere else.
package struct Boxed<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }
}
