/// The schema, from the top-level `schema.sql`.
public enum SchemaScript {
  /// The version that `schema.sql` describes; raised with every change, together with a ``SchemaMigration``.
  public static let version = 5

  /// Creates every table of an empty store.
  public static let text = String(decoding: PackageResources.schema_sql, as: UTF8.self)
}
