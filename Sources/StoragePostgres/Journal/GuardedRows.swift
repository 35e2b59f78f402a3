internal import StorageCore
internal import TextFormats
internal import TreeModel

/// The statements that bring rows into PostgreSQL's own tables, where its keys refuse a second one.
struct GuardedRows {
  private let schema: String

  init(_ schema: String) {
    self.schema = schema
  }

  /// Rows that are new go together, one statement for each table; others, which are few, one by one.
  ///
  /// - `unlessThere`: whether a row may be there already, from an attempt before.
  func statements(_ rows: [JournalRow], unlessThere: Bool = false) -> [PostgresLink.Statement] {
    guard !rows.isEmpty else { return [] }
    // What a removal makes free may be put again in the same batch.
    var statements = rows.filter { $0.operation != .inserted }.map(statement)
    for table in JournalRow.guardedTables {
      let new = rows.filter { $0.operation == .inserted && $0.table == table }
      guard !new.isEmpty else { continue }
      let objects = JSON.array(
        new.map { row in JSON.object(row.values.map { JSON.Member(key: $0.key, value: Self.json($0.value)) }) })
      statements.append(
        PostgresLink.Statement(
          "INSERT INTO \(schema).\(table) SELECT * FROM json_populate_recordset(NULL::\(schema).\(table), $1::text::json)"
            + (unlessThere ? " ON CONFLICT DO NOTHING" : ""),
          .text(objects.compactText)))
    }
    return statements
  }

  private func statement(_ row: JournalRow) -> PostgresLink.Statement {
    var parameters: [PostgresLink.Parameter] = []
    func terms(_ values: [String: JournalRow.Value], by separator: String) -> String {
      values.sorted { $0.key < $1.key }.map { column, value in
        parameters.append(Self.parameter(value))
        return "\(column) = $\(parameters.count)"
      }.joined(separator: separator)
    }
    if row.operation == .removed {
      let condition = terms(row.key, by: " AND ")
      return PostgresLink.Statement("DELETE FROM \(schema).\(row.table) WHERE \(condition)", with: parameters)
    }
    let change = terms(row.values, by: ", ")
    let condition = terms(row.key, by: " AND ")
    return PostgresLink.Statement("UPDATE \(schema).\(row.table) SET \(change) WHERE \(condition)", with: parameters)
  }

  private static func json(_ value: JournalRow.Value) -> JSON {
    switch value {
    case .null: .null
    case .integer(let number): .int(number)
    case .text(let text): .string(storable(text))
    case .bytes(let bytes): .string("\\x" + Hex.encode(bytes))
    }
  }

  private static func parameter(_ value: JournalRow.Value) -> PostgresLink.Parameter {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .text(storable(text))
    case .bytes(let bytes): .bytes(bytes)
    }
  }

  /// A text of PostgreSQL cannot hold the character U+0000; its picture stands there in its place.
  private static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\u{0}", with: "\u{2400}") : text
  }
}
