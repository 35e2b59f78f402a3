/// The schema, from the top-level `schema.sql`.
public enum SchemaScript {
  /// The version that `schema.sql` describes; raised with every change, together with a ``SchemaMigration``.
  public static let version = 2

  /// Creates every table of an empty store.
  public static let text = String(decoding: PackageResources.schema_sql, as: UTF8.self)

  /// Its statements, without comments and semicolons.
  package static var statements: [String] {
    var code = ""
    for line in text.split(separator: "\n") {
      // No text in it has two dashes.
      var end = line.startIndex
      while end < line.endIndex, !line[end...].hasPrefix("--") { end = line.index(after: end) }
      code += line[..<end] + "\n"
    }
    return code.split(separator: ";").map(String.init).filter { !$0.allSatisfy(\.isWhitespace) }
  }
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

  /// Every step that was released, oldest first; version 0.1 began with schema 1.
  public static let all: [SchemaMigration] = [longValues]
}

/// The schema that a program writes, and how an older store gets there.
public struct SchemaHistory: Sendable {
  /// The version of the schema that the program writes.
  public let version: Int
  /// The steps that it knows.
  public let migrations: [SchemaMigration]

  public init(version: Int, migrations: [SchemaMigration]) {
    self.version = version
    self.migrations = migrations
  }

  /// What this program was built with.
  public static let released = SchemaHistory(version: SchemaScript.version, migrations: SchemaMigration.all)

  /// The steps from an older version to ``version``, in order; nil if one of them is not known.
  public func steps(from found: Int) -> [SchemaMigration]? {
    let steps = (found..<max(found, version)).compactMap { version in migrations.first { $0.from == version } }
    return steps.count == max(0, version - found) ? steps : nil
  }
}
