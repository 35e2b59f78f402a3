import StorageCore

extension SchemaMigration {
  /// The tables that the step makes.
  var tables: [String] {
    script.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 2 && words[0] == "CREATE" && words[1] == "TABLE" ? String(words[2]) : nil
    }
  }

  /// SQL that takes a store of the newest version back to the one before the step, as far as tables go.
  var undoing: String {
    let later = SchemaMigration.all.filter { $0.from > from }.flatMap(\.tables)
    return "UPDATE meta SET value = '\(from)' WHERE name = 'schema_version'"
      + (tables + later).map { "; DROP TABLE \($0)" }.joined()
  }
}
