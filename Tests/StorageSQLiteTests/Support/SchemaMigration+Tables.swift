import StorageCore

extension SchemaMigration {
  /// The tables that the step makes.
  var tables: [String] {
    script.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 2 && words[0] == "CREATE" && words[1] == "TABLE" ? String(words[2]) : nil
    }
  }

  /// SQL that takes a store back to the version before the step, as far as tables go.
  var undoing: String {
    "UPDATE meta SET value = '\(from)' WHERE name = 'schema_version'" + tables.map { "; DROP TABLE IF EXISTS \($0)" }.joined()
  }
}
