#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that may block: the writer's and the checkpointer's. The cooperative pool has few threads, and none to spare.
///
/// `@unchecked Sendable`: the handle is written once, before `init` returns, and read only by `join`.
final class BlockingThread: @unchecked Sendable {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private var handle = pthread_t()

  init(_ run: @escaping @Sendable () -> Void) {
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
  func join() {
    pthread_join(handle, nil)
  }
}
