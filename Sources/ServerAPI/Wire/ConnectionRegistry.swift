import NIOCore
import Synchronization

/// The open connections: what a stopping server waits for.
final class ConnectionRegistry: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isStopping = false
    var waiter: EventLoopPromise<Void>?
  }

  private let state = Mutex(State())

  /// Adds a connection; false if there are `max` already or the server stops.
  func add(_ channel: any Channel, max: Int) -> Bool {
    let isAdded = state.withLock { state in
      guard !state.isStopping, state.channels.count < max else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
    guard isAdded else { return false }
    channel.closeFuture.whenComplete { _ in self.remove(channel) }
    return true
  }

  private func remove(_ channel: any Channel) {
    let waiter = state.withLock { state -> EventLoopPromise<Void>? in
      state.channels[ObjectIdentifier(channel)] = nil
      guard state.channels.isEmpty else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.succeed()
  }

  /// Lets every connection finish what it is answering; those that have not after `timeout` are closed.
  func stop(on eventLoop: any EventLoop, timeout: TimeAmount) async throws {
    let promise = eventLoop.makePromise(of: Void.self)
    let open = state.withLock { state -> [any Channel] in
      state.isStopping = true
      if !state.channels.isEmpty { state.waiter = promise }
      return Array(state.channels.values)
    }
    if open.isEmpty { promise.succeed() }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    let late = eventLoop.scheduleTask(in: timeout) {
      for channel in self.state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
    try await promise.futureResult.get()
    late.cancel()
  }
}
