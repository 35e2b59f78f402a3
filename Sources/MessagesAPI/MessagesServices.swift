package import APISupport
package import HTTPServer
package import Messages
package import TreeModel

/// What apps that show messages are answered with.
package final class MessagesServices: APIServices {
  package let context: ServerContext
  /// Nil where no messages are served.
  package let messages: MessageService?
  /// The keys that apps call with, as they are set now; none: any will do.
  package let keys: @Sendable () -> [AppKey]
  /// Whether a player may read a place of the tree.
  package let mayRead: @Sendable (Path, Caller) -> Bool

  package init(
    context: ServerContext, messages: MessageService?, keys: @escaping @Sendable () -> [AppKey] = { [] },
    mayRead: @escaping @Sendable (Path, Caller) -> Bool = { _, _ in false }
  ) {
    self.context = context
    self.messages = messages
    self.keys = keys
    self.mayRead = mayRead
  }
}

/// A key that apps call with. It is in every copy of an app, so it proves little.
package struct AppKey: Sendable, Hashable {
  package let key: String
  /// Bundle ids that may use it; empty: all.
  package let bundleIDs: [String]

  package init(key: String, bundleIDs: [String]) {
    self.key = key
    self.bundleIDs = bundleIDs
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<MessagesServices>
package typealias RouteCall = APICall<MessagesServices>
