/// Where work goes that takes a core for a while: threads that serve no requests.
public struct OffLoopWork: Sendable {
  private let body: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// - Parameter body: runs the work soon, on another thread, and returns true; or returns false and never runs it.
  public init(_ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
    self.body = body
  }

  /// Runs the work at once, where it was asked for: for tests and commands.
  public static let inPlace = OffLoopWork { work in
    work()
    return true
  }

  func submit(_ work: @escaping @Sendable () -> Void) -> Bool { body(work) }
}
