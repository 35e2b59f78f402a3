public import StorageCore

/// What one commit (or a snapshot) means to everybody who listens to the same place in the same way.
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
