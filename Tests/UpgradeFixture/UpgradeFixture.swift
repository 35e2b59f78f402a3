import DoubloonCLI
import Functions
import StorageCore

/// The program of a version that never was: its schema is two steps beyond the one that there is. The stage `upgrade` starts it, and
/// kills it while it counts.
@main struct UpgradeFixture {
  private static let schema = SchemaHistory(
    version: SchemaScript.version + 2,
    migrations: SchemaMigration.all + [
      SchemaMigration(
        from: SchemaScript.version,
        script: "CREATE TABLE song (id BIGINT NOT NULL PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID"),
      SchemaMigration(
        from: SchemaScript.version + 1,
        // Takes a second or more, in which the process can be killed.
        script: "INSERT INTO song WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 4000000) "
          + "SELECT count(*), 'counted' FROM number"),
    ])

  static func main() async {
    await DoubloonCommandLine.$schema.withValue(schema) {
      await DoubloonServer(functions: registerFunctions).main()
    }
  }
}
