/// What the client is told, each request in its turn.
extension SocketSession {
  /// Answers a request that has begun last: now, or when those before it are answered.
  func reply(_ message: [UInt8]) {
    if answers.count == 0 { tell(message) } else { answers.append(.message(message)) }
  }

  /// What has this place among the answers is done: it is answered in its turn, and those that waited for it.
  func finish(_ place: Int, _ answer: SocketAnswer) {
    answers.finish(place, answer)
    while isOpen, let next = answers.next() {
      switch next {
      case .message(let message): tell(message)
      case .write(let outcome): acknowledge(outcome)
      }
    }
  }

  /// Tells the client what answers no request.
  func tell(_ message: [UInt8]) { transport?.send(message) }

  func refuse(_ number: Int64, _ refusal: SocketRefusal) { reply(SocketAnswers.refused(number, refusal)) }
}
