extension Query {
  /// What concerns rules and indexes, reading and writing.
  var indexSQL: String {
    switch self {
    case .rules: "SELECT source, updated_at, last_index FROM rules WHERE ns = ?"
    case .indexes: "SELECT \(Self.indexColumns) FROM tree_index WHERE ns = ? ORDER BY id"
    case .index: "SELECT \(Self.indexColumns) FROM tree_index WHERE ns = ? AND id = ?"
    case .placesAscending: "SELECT place FROM index_place WHERE \(Self.placeRange) ORDER BY place"
    case .placesDescending: "SELECT place FROM index_place WHERE \(Self.placeRange) ORDER BY place DESC"
    case .anyPlace: "SELECT 1 FROM index_place WHERE ns = ? AND index_id = ? LIMIT 1"
    case .putRules: Self.insert("rules", "ns, source, updated_at, last_index", replacing: true)
    case .putIndex: Self.insert("tree_index", "ns, " + Self.indexColumns, replacing: true)
    case .removeIndex: "DELETE FROM tree_index WHERE ns = ? AND id = ?"
    case .putPlace: Self.insert("index_place", "ns, index_id, parent, place") + " ON CONFLICT DO NOTHING"
    case .removePlace: "DELETE FROM index_place WHERE ns = ? AND index_id = ? AND parent = ? AND place = ?"
    case .removePlaces:
      """
      DELETE FROM index_place WHERE (ns, index_id, parent, place) IN (
        SELECT ns, index_id, parent, place FROM index_place WHERE ns = ? AND index_id = ? LIMIT ?)
      """
    default: preconditionFailure("\(self) has no text")
    }
  }

  private static let indexColumns = "id, pattern, child_order, state, cursor, child_count"
  private static let placeRange = "ns = ? AND index_id = ? AND parent = ? AND place >= ? AND place < ?"
}
