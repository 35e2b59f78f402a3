#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A thread that may block. The cooperative pool has few threads, and none to spare.
///
/// `@unchecked Sendable`: the handle is written once, before `init` returns, and read only by `join` and `detach`.
package final class BlockingThread: @unchecked Sendable {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private var handle = pthread_t()

  /// Starts a thread; ``join()`` or ``detach()`` must be called once.
  package init(_ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(Body(run))
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    precondition(status == 0, "The system gave no thread: \(String(cString: strerror(status))). Raise the limit of threads.")
  }

  /// Waits until the thread has ended.
  package func join() {
    pthread_join(handle, nil)
  }

  /// Lets the thread end by itself.
  package func detach() {
    pthread_detach(handle)
  }
}
