import CoreMetrics
import HTTPServer
import NIOCore

/// A session's messages over a chain of polls (firebase-js-sdk, `BrowserPollConnection.ts`). Lives on the session's event
/// loop; the polls come from any.
final class LongPollConnection {
  /// Messages that one answer carries, about; the rest goes with the next.
  private static let answerBytesMax = 1 << 20
  /// Polls that may be open: the older is answered when another comes.
  private static let pollsMax = 2
  /// Polls with messages that may come while the session takes nothing: stock clients send no third.
  private static let heldPollsMax = 8

  let session: SocketSession
  private let limits: SocketLimits
  private let memory: MemoryBudgets
  private let metrics: SocketMetrics
  private var segments: LongPollSegments
  /// What came while the session took nothing.
  private var early: [[LongPollSegments.Segment]] = []
  private var polls: [ResponseSink] = []
  /// Accounts for incomplete messages.
  private var inputShare: ByteShare?
  /// Accounts for messages that no poll has fetched.
  private var outputShare: ByteShare?
  private var messages: [[UInt8]] = []
  private var messageBytes = 0
  private var flushed: [@Sendable () -> Void] = []
  /// The number of the next answer; 0 was the greeting's.
  private var number = 1
  private var timer: Scheduled<Void>?
  private var isTaking = false
  /// Whether the session has left: what waits still goes out, then the client is told.
  private var isClosing = false
  private var isFinished = false
  private let onEnd: () -> Void

  /// - `onEnd`: called once, when no poll is answered any more.
  init(
    session: SocketSession, limits: SocketLimits, memory: MemoryBudgets, metrics: SocketMetrics, onEnd: @escaping () -> Void
  ) {
    self.session = session
    self.memory = memory
    self.limits = limits
    self.metrics = metrics
    self.onEnd = onEnd
    segments = LongPollSegments(bytesMax: limits.messageBytesMax)
  }

  /// Begins the session.
  ///
  /// - Returns: its greeting.
  func start() -> [[UInt8]] {
    session.start(on: self)
    restartTimer()
    defer {
      messages = []
      messageBytes = 0
    }
    return messages
  }

  /// A poll, with what the client sends along.
  func poll(_ sent: [LongPollSegments.Segment], sink: ResponseSink) {
    guard !isFinished else { return sink.send(.longPoll(LongPollScript.close(after: nil))) }
    restartTimer()
    polls.append(sink)
    if !sent.isEmpty { early.append(sent) }
    takeWhatCame()
    answer()
    // Who may not write for now gets no answer to what it has sent, and so has no request left to send more with.
    guard early.isEmpty else {
      if early.count > Self.heldPollsMax { session.end(Self.tooEager) }
      return
    }
    while polls.count >= Self.pollsMax { release(polls.removeFirst()) }
  }

  private static let tooEager = WebSocketError(.policyViolation, "Wait for the answers to what was sent before.")

  /// Hands on what has come, as far as the session takes it.
  private func takeWhatCame() {
    // Taking a message may free the session for the next, which calls back here.
    guard !isTaking else { return }
    isTaking = true
    defer { isTaking = false }
    do throws(WebSocketError) {
      while !early.isEmpty, !isClosing, !session.isFull {
        for message in try segments.take(early.removeFirst()) {
          metrics.framesReceived.increment()
          session.receive(message, from: self)
        }
      }
      try holdUnfinished()
    } catch {
      session.end(error)
    }
  }

  /// Counts the segments that wait.
  private func holdUnfinished() throws(WebSocketError) {
    let bytes = early.joined().reduce(segments.heldBytes) { $0 + $1.text.utf8.count }
    guard inputShare != nil || bytes >= ByteShare.step else { return }
    let share = inputShare ?? share(of: memory.input)
    inputShare = share
    if !share.hold(bytes, as: session.standing) { throw Self.memoryIsShort }
  }

  /// Counts the messages that wait for a poll.
  private func holdUnread() {
    guard outputShare != nil || messageBytes >= ByteShare.step else { return }
    let share = outputShare ?? share(of: memory.output)
    outputShare = share
    // Not from within a `send` of the session.
    if !share.hold(messageBytes, as: session.standing) { share.giveUp() }
  }

  private func share(of budget: ByteBudget) -> ByteShare {
    let connection = NIOLoopBound(self, eventLoop: session.eventLoop)
    let eventLoop = session.eventLoop
    return budget.share(of: session.client) { eventLoop.execute { connection.value.leave() } }
  }

  private static let memoryIsShort = WebSocketError(.tryAgainLater, "The server takes in as much as it can at once.")

  /// The client says that it leaves.
  func leave() {
    session.transportEnded(self)
    finish()
  }

  private func restartTimer() {
    timer?.cancel()
    let connection = NIOLoopBound(self, eventLoop: session.eventLoop)
    timer = session.eventLoop.scheduleTask(in: limits.pollGap) { connection.value.timerFired() }
  }

  /// A poll that was open so long is over for the client too; without one it is gone. So is one who owes a piece of what it
  /// sends: the piece would have come with another request.
  private func timerFired() {
    guard !isClosing else { return finish() }
    guard polls.isEmpty || segments.heldBytes > 0 else {
      release(polls.removeFirst())
      return restartTimer()
    }
    leave()
  }

  /// Answers the oldest poll with what waits.
  private func answer() {
    guard !messages.isEmpty || isClosing, !polls.isEmpty else { return }
    let poll = polls.removeFirst()
    // The time without a poll begins now: the page can poll again only after this answer.
    if polls.isEmpty, !isClosing { restartTimer() }
    var taken = 0
    var bytes = 0
    while taken < messages.count, bytes < Self.answerBytesMax {
      bytes += messages[taken].count
      taken += 1
    }
    let batch = Array(messages[..<taken])
    messages.removeFirst(taken)
    messageBytes -= bytes
    metrics.framesSent.increment(by: taken)
    holdUnread()
    let isLast = isClosing && messages.isEmpty
    poll.send(.longPoll(LongPollScript.answer(number, messages: batch, closesAfter: isLast ? number : nil)))
    number += 1
    if messages.isEmpty {
      let done = flushed
      flushed = []
      for body in done { body() }
    }
    if isLast { return finish(after: number - 1) }
    session.transportIsWritable()
  }

  private func release(_ poll: ResponseSink) {
    poll.send(.longPoll(LongPollScript.answer(number, messages: [], closesAfter: nil)))
    number += 1
  }

  /// - Parameter last: the number of the last answer with messages, which may reach the page after what is sent here.
  private func finish(after last: Int? = nil) {
    timer?.cancel()
    guard !isFinished else { return }
    isFinished = true
    isClosing = true
    messages = []
    early = []
    inputShare = nil
    outputShare = nil
    for poll in polls { poll.send(.longPoll(LongPollScript.close(after: last))) }
    polls = []
    onEnd()
  }
}

extension LongPollConnection: SocketTransport {
  var isCongested: Bool { messageBytes > limits.outgoingBytesMax }

  func send(_ message: [UInt8]) {
    guard !isClosing else { return }
    messages.append(message)
    messageBytes += message.count
    holdUnread()
    scheduleAnswer()
  }

  func send(_ message: SharedMessage) -> Int {
    send(message.bytes)
    return message.bytes.count
  }

  func flush(then done: @escaping @Sendable () -> Void) {
    if messages.isEmpty { done() } else { flushed.append(done) }
  }

  func close(_ error: WebSocketError) {
    guard !isClosing else { return }
    isClosing = true
    restartTimer()
    scheduleAnswer()
  }

  func resume() {
    guard !early.isEmpty else { return }
    takeWhatCame()
    while early.isEmpty, polls.count >= Self.pollsMax { release(polls.removeFirst()) }
  }

  /// What is said together goes into one answer.
  private func scheduleAnswer() {
    guard !polls.isEmpty else { return }
    let connection = NIOLoopBound(self, eventLoop: session.eventLoop)
    session.eventLoop.execute { connection.value.answer() }
  }
}
