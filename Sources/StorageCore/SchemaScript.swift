/// The schema, from the top-level `schema.sql`.
public enum SchemaScript {
  /// The version that `schema.sql` describes; raised with every change, together with a ``SchemaMigration``.
  public static let version = 1

  /// Creates every table of an empty store.
  public static let text = String(decoding: PackageResources.schema_sql, as: UTF8.self)
}

/// One step from a schema version to the next. Frozen as soon as it was released.
public struct SchemaMigration: Sendable {
  /// The version that it starts from; it ends at the next.
  public let from: Int
  /// SQL that changes a store of version ``from`` in place, in one transaction.
  public let script: String

  public init(from: Int, script: String) {
    self.from = from
    self.script = script
  }

  /// Every step that was released, oldest first: none since version 0.1, which has schema 1.
  public static let all: [SchemaMigration] = []
}
