import APISupport
import HTTPServer
import Messages
import NIOHTTP1
import NIOPosix
import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// The stream by which an open app is told at once.
enum StreamRoutes {
  static let routes: [Route] = [
    Route.stream("/v1/messages/events", summary: "Tells an app at once that a message waits.", access: .open, body: open)
  ]

  @Sendable private static func open(_ call: RouteCall, _ sink: ResponseSink) throws {
    // The look at the store is not for the event loop.
    call.services.threadPool.submit { _ in
      do {
        let access = try MessageAccess(call)
        try access.checkKey()
        guard access.messages.settings.hasStreams else {
          throw MessagesAPIError(.notFound, "Streams are switched off here; fetch from time to time.")
        }
        let id = call.query["instance"] ?? ""
        _ = try access.messages.authenticated(id, token: access.token)
        let caller = try access.player()
        let source = MessageStreamSource(messages: access.messages, services: call.services, instance: id, caller: caller)
        sink.stream(limitedBy: StreamAdmission.all) { opening in
          EventConnection(MessageStream(source: source), opening: opening, admission: StreamAdmission.all)
        }
      } catch {
        sink.send(MessagesAPIError(error).response)
      }
    }
  }
}

/// Counts the streams of apps.
final class StreamAdmission: StreamCounting {
  static let all = StreamAdmission()
  /// Of more one is refused with 503.
  private static let streamsMax = 20_000
  private let count = Mutex(0)

  func open() -> Bool {
    count.withLock { count in
      guard count < Self.streamsMax else { return false }
      count += 1
      return true
    }
  }

  func close() { count.withLock { $0 -= 1 } }
}

/// Whose stream it is.
struct MessageStreamSource: Sendable {
  let messages: MessageService
  let services: MessagesServices
  let instance: String
  let caller: Caller

  /// Whether the player's credential is good no more.
  var isOver: Bool {
    caller.uid != nil
      && (services.authenticator.isVoid(caller) || caller.validUntil.map { $0 <= services.database.clock.now() } ?? false)
  }
}
