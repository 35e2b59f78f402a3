/// One step from a schema version to the next. Frozen once it was shipped.
public struct SchemaMigration: Sendable {
  /// The version that it starts from; it ends at the next.
  public let from: Int
  /// SQL that changes a store of version ``from`` in place, in one transaction.
  public let script: String

  public init(from: Int, script: String) {
    self.from = from
    self.script = script
  }

  /// Every step that was shipped, oldest first.
  public static let all: [SchemaMigration] = [
    SchemaMigration(from: 1, script: [upkeep].joined(separator: "\n"))
  ]
}
