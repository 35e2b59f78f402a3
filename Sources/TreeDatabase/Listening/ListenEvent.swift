public import StorageCore
public import TreeModel

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
  /// Nothing can be read at this moment: the client is to come back, and not to give up.
  case unavailable
}

/// What a client wants to be told of: a node, or a window over its children.
public struct ListenRequest: Sendable, Hashable {
  /// Whose tree.
  public let namespace: NamespaceID
  /// The node.
  public let path: Path
  /// The window over the node's children; nil for the whole node. A query that is `Query.isUnfiltered` counts
  /// as none.
  public let query: Query?
  /// How data are written: plain for event streams, export (with priorities) for sockets.
  public let format: TreeFormat
  /// The hash of what the client holds (`TreeNode.dataHash`); if it is still current, no data are sent.
  public let dataHash: String?
  /// What the transport calls the listen; nothing here looks at it.
  public let tag: Int64?

  public init(
    namespace: NamespaceID, path: Path, query: Query? = nil, format: TreeFormat, dataHash: String? = nil, tag: Int64? = nil
  ) {
    self.namespace = namespace
    self.path = path
    self.query = query.flatMap { $0.isUnfiltered ? nil : $0 }
    self.format = format
    self.dataHash = dataHash
    self.tag = tag
  }
}

/// What one commit (or a snapshot) means to everyone who listens to the same place in the same way.
///
/// Made and encoded once, and handed to every such listen by reference. What differs between listens (a tag, the path of
/// the request) is the transport's to add around ``body``.
public final class ListenMessage: Sendable {
  /// What the client is to do with the body.
  public enum Kind: Sendable, Hashable {
    /// Replace the node at ``ListenMessage/path`` by the body.
    case overwrite
    /// The body is an object: replace each place that it names, relative to ``ListenMessage/path``. Keys may be deep paths
    /// (`a/b`), and end in `.priority` in export form.
    case merge
  }

  /// The state of the tree that the listen has reached with this message.
  public let revision: Revision
  /// Overwrite or merge.
  public let kind: Kind
  /// Relative to the path of the listen, without a slash at either end: `""`, `a`, `a/b`, in export form also `.priority`
  /// and `a/.priority`. Not escaped.
  public let path: String
  /// JSON in UTF-8, in the listen's format; `null` deletes.
  public let body: [UInt8]

  init(revision: Revision, kind: Kind, path: String, body: [UInt8]) {
    self.revision = revision
    self.kind = kind
    self.path = path
    self.body = body
  }
}

/// The receiving end of a connection: an event stream, a socket.
///
/// Everything is called on the sink's ``DeliveryExecutor``, and must not block.
public protocol ListenSink: AnyObject, Sendable {
  /// Writes an event towards the client, without flushing.
  ///
  /// - Returns: how many bytes now wait to be written; the transport reports them with ``Listener/didWrite(_:)`` once they
  ///   have left. 0 if it does not count this event.
  func receive(_ event: ListenEvent, for listening: Listening) -> Int
  /// Called once after the last of a row of events.
  func flush()
  /// Whether the client may still listen there; asked after ``ListenerHub/review()``.
  func mayContinue(_ listening: Listening) -> Bool
}

extension ListenSink {
  public func mayContinue(_ listening: Listening) -> Bool { true }
}

/// What kept a message from being made: the listens that it was for end, or start again.
struct ListenError: Error {
  let end: ListenEnd

  static let tooLarge = ListenError(end: .tooLarge)

  init(end: ListenEnd) {
    self.end = end
  }

  init(_ error: StorageError) {
    end = [.lost, .stopped].contains(error.code) ? .unavailable : .failed(error.description)
  }
}
