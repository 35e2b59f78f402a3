import TreeDatabase

/// What the listeners of one event loop get of the same commit is rendered once.
///
/// The hub hands one message to all listens of a loop one after the other, so remembering the last is enough.
final class PushCache {
  /// Messages up to here are kept for a push that may never come.
  private static let keptBytesMax = 64 << 10

  private var source: ListenMessage?
  private var tag: Int64?
  private var message: SharedMessage?

  init() {}

  /// The push of a message to a listen.
  ///
  /// - Parameter path: where the data belong, without a slash at its ends; the same for all listens that get the message.
  func push(_ source: ListenMessage, tag: Int64?, at path: @autoclosure () -> String) -> SharedMessage {
    if let message, self.source === source, self.tag == tag { return message }
    let made = SharedMessage(
      SocketAnswers.data(isMerge: source.kind == .merge, path: path(), body: source.body, tag: tag))
    self.source = source
    self.tag = tag
    message = made
    return made
  }

  /// The loop has handed on what there was: nobody else gets the last message, as a rule.
  func didFlush() {
    guard let message, message.bytes.count > Self.keptBytesMax else { return }
    source = nil
    self.message = nil
  }
}
