public import StorageCore

/// What a store's file says of itself, read without opening it as a store: nothing beside it is made or changed.
public struct StoreSummary: Sendable, Hashable {
  /// A namespace and its last commit.
  public struct Namespace: Sendable, Hashable {
    public let name: String
    /// 0 before the first commit.
    public let revision: Int64
    /// Milliseconds since 1970; 0 before the first commit.
    public let time: Int64
  }

  /// What the store is known by, in its copies too; nil if it was not declared yet.
  public let identity: String?
  /// Counts the restores.
  public let epoch: Int64
  /// The version of the schema.
  public let schema: Int64
  /// In the order in which they were made.
  public let namespaces: [Namespace]

  /// Reads the file of a store that nobody has open.
  ///
  /// - Throws: `StorageError` if it is no store, or one of a newer version.
  public init(of path: String) throws(StorageError) {
    let connection = try SQLiteConnection(unchanging: path, vfs: nil)
    defer { connection.close() }
    try StoreOpening.throwIfNewer(connection)
    identity = try connection.metaText(.identity)
    guard let epoch = try connection.meta(.epoch), let schema = try connection.meta(.schemaVersion) else {
      throw connection.damaged("the store's epoch")
    }
    self.epoch = epoch
    self.schema = schema
    namespaces = try connection.namespaces().map { record throws(StorageError) in
      let head = try connection.head(record.id)
      return Namespace(name: record.name, revision: head.revision.rawValue, time: head.time)
    }
  }
}

extension SQLiteEngine {
  /// What the store is known by: declared once, kept by every copy. Before the write session is made, which owns the connection.
  ///
  /// - Parameter fresh: makes one, for a store that has none yet.
  public func identity(orDeclaring fresh: () -> String) throws(StorageError) -> String {
    precondition(!hasSession, "A store's identity is declared before anything is written.")
    if let known = try writer.metaText(.identity) { return known }
    let identity = fresh()
    try writer.inTransaction { () throws(StorageError) in try writer.setMeta(.identity, to: identity) }
    return identity
  }
}
