import ServerApp
import StorageCore
import Triggers

extension TestServer {
  /// Stops giving events to a function; they wait.
  public func pause(_ function: String) async throws {
    try await application.dispatcher.pause(function, because: "the test paused it")
  }

  /// Lets a function go on, and waits until what waited for it is settled.
  public func resume(_ function: String) async throws {
    try await application.dispatcher.resume(function)
    try await application.settle()
  }

  /// Moves the clock, and waits until what became due is settled: retries, above all.
  public func advance(by duration: Duration) async throws {
    let (seconds, attoseconds) = duration.components
    clock.advance(by: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    try await application.settle()
  }
}
