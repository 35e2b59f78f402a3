import NIOCore
import NIOPosix

/// Looks again and again until it is so, 20 seconds at most; between two looks others have their turn.
package func becomes(_ condition: () async throws -> Bool) async throws -> Bool {
  let end = NIODeadline.now() + .seconds(60)
  while NIODeadline.now() < end {
    if try await condition() { return true }
    try await MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: .milliseconds(5)) {}.futureResult.get()
  }
  return false
}
