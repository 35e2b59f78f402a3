import ServiceLifecycle

/// A room's long-lived work as a service: it is cancelled when the group shuts down.
///
/// Rooms of the lower floors know nothing of service groups; they have a `run()` that ends when its task is cancelled.
struct RoomService: Service {
  let name: String
  private let work: @Sendable () async throws -> Void

  init(name: String, _ work: @escaping @Sendable () async throws -> Void) {
    self.name = name
    self.work = work
  }

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await work() }
    } catch is CancellationError {
      // That is how it ends.
    }
  }
}
