/// What happens to a listen, in the order in which a client must see it.
///
/// The first event is a snapshot, or that the client is current, or an end. Then come changes, each commit at most once and in
/// revision order. A snapshot can come again at any time (the client was too slow, or the hub fell behind): it replaces
/// everything before. The first events of a connection's listens come in the order in which the listens began, and what is
/// committed after a listen began comes to the whole connection behind the first event of that listen.
public enum ListenEvent: Sendable {
  /// The whole node or window: an overwrite with the empty path.
  case snapshot(ListenMessage)
  /// The client's hash is that of the present data, which the message has: they need not be sent (the field `h` of a
  /// listen in the Firebase SDKs' `PersistentConnection`).
  case current(ListenMessage)
  /// What one commit changed.
  case change(ListenMessage)
  /// The listen is over, and nothing comes any more; it need not be stopped.
  case ended(ListenEnd)
}

/// Why a listen is over without having been stopped.
public enum ListenEnd: Sendable, Hashable {
  /// The client may no longer read there (``ListenerHub/review()``).
  case revoked
  /// The namespace was forgotten. A client that comes again finds the new one.
  case namespaceForgotten
  /// There is more data than one listen may hold.
  case tooLarge
  /// The data could not be read; the text is for the log.
  case failed(String)
}
