import NIOCore
import NIOHTTP1

extension HTTPConnection {
  /// Looks at the deadline when it should have come; one timer a connection, moved only when it fires.
  ///
  /// Phases set ``deadline`` with a store, never a timer: a busy connection pays nothing for its timeouts.
  func startTimer(_ context: ChannelHandlerContext) {
    timer?.cancel()
    // A phase may set a nearer deadline than the present one: no sleep is longer than the shortest timeout.
    let limit = NIODeadline.now() + min(configuration.idleTimeout, configuration.exchangeTimeout)
    let next = deadline < limit ? deadline : limit
    let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(deadline: next) { connection.value.timerFired() }
  }

  private func timerFired() {
    guard let context else { return }
    guard deadline <= .now() else { return startTimer(context) }
    switch phase {
    case .receiving:
      refuse(.error(.requestTimeout, "The request took too long to arrive: send it faster, or in parts."), context)
      startTimer(context)
    case .idle, .sending, .lingering: context.close(promise: nil)
    // An answer takes as long as it takes; the deadline was of the phase before.
    case .answering: startTimer(context)
    case .closed: break
    }
  }
}
