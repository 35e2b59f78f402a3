import ClientRuntime

/// What a database stands on: where it is, and what reaches it.
struct DatabaseEnvironment: Sendable {
  var server: ServiceAddress
  var namespace: String
  /// The app's id, for the server's log.
  var appID: String
  var clock: any ClientClock
  var sockets: any SocketTransport
  var callbacks: CallbackQueue
  var log: ClientLog
  /// The folder for what is kept on disk; nil: nothing can be kept.
  var storageFolder: String?
  /// Who the player is; nil: nobody, ever.
  var tokens: (any DatabaseTokens)?
}

/// The player's token, for the socket.
protocol DatabaseTokens: Sendable {
  /// Calls the closure with the token and the player's uid now and whenever they change; nil is nobody.
  func observe(_ changed: @escaping @Sendable (_ token: String?, _ uid: String?) -> Void)
  /// The server refused the token: gets another, of which the observer is told.
  func refresh() async
}
