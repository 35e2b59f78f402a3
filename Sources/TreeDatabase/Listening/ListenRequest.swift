public import StorageCore
public import TreeModel

/// What a client wants to be told of: a node, or a window over its children.
public struct ListenRequest: Sendable, Hashable {
  /// Whose tree.
  public let namespace: NamespaceID
  /// The node.
  public let path: Path
  /// The window over the node's children; nil for the whole node. A query that is ``TreeModel/Query/isUnfiltered`` counts
  /// as none.
  public let query: Query?
  /// How data are written: plain for event streams, export (with priorities) for sockets.
  public let format: TreeFormat
  /// The hash of what the client holds (spec: rtdb-protocol §3.6); if it is still current, no data are sent.
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
