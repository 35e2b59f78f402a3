import APISupport
import HTTPServer
import NIOCore
import TreeDatabase

/// How a session takes part in the server's memory, and in its writers' time.
extension SocketSession {
  /// What a leaf that is registered for the end takes beyond what was sent.
  private static let leafBytes = 128

  private static let memoryIsShort = WebSocketFault(
    .tryAgainLater, "The server takes in as much as it can at once: connect again, or send less at a time.")

  /// Counts the requests that wait, and what is registered for the end: that is given up with the session, if need be.
  func holdWaiting() {
    guard isWaiting else { return }
    let registered = disconnectBytes + disconnect.leafCount * Self.leafBytes
    let bytes = pendingWeight + (successor?.earlyWeight ?? 0) + registered
    guard waitingShare != nil || bytes >= ByteShare.step else { return }
    let reference = reference
    let share =
      waitingShare
      ?? services.memory.input.share(of: client) { reference.run { session in session.end(Self.memoryIsShort) } }
    waitingShare = share
    if !share.hold(bytes, as: caller.standing) { end(Self.memoryIsShort) }
  }

  /// Counts a request that is worked on from now on until ``didWork(_:)``.
  func willWork(_ request: SocketRequest) throws(SocketRefusal) {
    workWeight += request.weight
    guard holdWork() else {
      end(Self.memoryIsShort)
      throw SocketRefusal("unavailable", Self.memoryIsShort.reason)
    }
  }

  func didWork(_ weight: Int) {
    workWeight -= weight
    _ = holdWork()
  }

  private func holdWork() -> Bool {
    guard workShare != nil || workWeight >= ByteShare.step else { return true }
    let share = workShare ?? services.memory.input.share(of: client) {}
    workShare = share
    return share.hold(workWeight, as: caller.standing, isReleasable: false)
  }

  private var isWaiting: Bool {
    switch phase {
    case .opening, .open: true
    case .ending, .ended: false
    }
  }

  /// Takes what a request costs out of the buckets of who writes. If there is not enough, the session goes on when there is.
  func paysFor(_ request: SocketRequest) -> Bool {
    guard request.isPaced, let wait = sessions.pace?.wait(caller, from: client, bytes: request.bytes) else { return true }
    services.metrics.sockets.pauses.add()
    let session = NIOLoopBound(self, eventLoop: eventLoop)
    // The wall clock may have been moved until then: no sleep is long.
    pause = eventLoop.scheduleTask(in: .milliseconds(min(wait, 10_000))) {
      session.value.pause = nil
      session.value.pump()
    }
    return false
  }

  /// Counts one more listen of the client's network; false if it has too many.
  func takesListen() -> Bool { sessions.take(listenOf: client) }

  /// Forgets a listen that is over.
  func forget(_ listen: SocketListen) {
    guard listens[listen.id] != nil else { return }
    listens.remove(listen)
    sessions.giveBack(listens: 1, of: client)
  }
}
