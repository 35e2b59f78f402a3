import APISupport
import HTTPServer
import NIOCore
import StorageCore
import Synchronization
import TreeDatabase

/// The open event streams of the server: how many there are, and what they share.
final class EventStreams: StreamCounting {
  let hub: ListenerHub
  let limits: StreamLimits
  let metrics: ServerMetrics
  let output: ByteBudget
  let clock: any WallClock
  let authenticator: any Authenticating
  let users: ConnectedUsers
  private let memories = Mutex<[ObjectIdentifier: EventTextMemory]>([:])

  init(services: RealtimeServices) {
    hub = services.listeners
    limits = services.streamLimits
    metrics = services.metrics
    output = services.memory.output
    clock = services.database.clock
    authenticator = services.authenticator
    users = services.connectedUsers
  }

  /// Counts one more; false if there are too many.
  func open() -> Bool {
    metrics.streams.add(1)
    if metrics.streams.current <= limits.streamsMax { return true }
    metrics.streams.add(-1)
    return false
  }

  func close() { metrics.streams.add(-1) }

  func memory(of eventLoop: any EventLoop) -> EventTextMemory {
    memories.withLock { memories in
      if let memory = memories[ObjectIdentifier(eventLoop)] { return memory }
      let memory = EventTextMemory()
      memories[ObjectIdentifier(eventLoop)] = memory
      return memory
    }
  }
}
