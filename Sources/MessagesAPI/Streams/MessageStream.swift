import HTTPServer
import Messages
import NIOCore
import StorageCore
import TreeModel

/// Tells one app that a message waits: it fetches then, for the message comes with the fetch.
///
/// What a slow client does not take is left out: its next fetch says as much.
final class MessageStream: EventStreamSource {
  /// How often the stream says that it is alive.
  static let interval = TimeAmount.seconds(30)
  static let beatsOfPatience = 2

  private let source: MessageStreamSource
  private var connection: EventConnection?
  private var number: Int?

  init(source: MessageStreamSource) {
    self.source = source
  }

  func begin(_ connection: EventConnection) {
    self.connection = connection
    let (stream, eventLoop) = (NIOLoopBound(self, eventLoop: connection.eventLoop), connection.eventLoop)
    number = source.messages.hub.join(source.instance, uid: source.caller.uid, at: source.messages.clock.now()) { signal in
      eventLoop.execute { stream.value.tell(signal) }
    }
    connection.send("keep-alive", .null)
  }

  func beat() {
    // The app signs in again, and listens again.
    if source.isOver { connection?.close() } else { connection?.send("keep-alive", .null) }
  }

  func serverStops() {}

  func end() {
    connection = nil
    guard let number else { return }
    self.number = nil
    source.messages.hub.leave(source.instance, number: number)
  }

  private func tell(_ signal: MessageSignal) {
    switch signal {
    case .trigger(let event): connection?.send("trigger", event.clientJSON)
    case .refresh: connection?.send("refresh", .null)
    case .replaced:
      connection?.send("replaced", .null)
      connection?.close()
    }
  }
}
