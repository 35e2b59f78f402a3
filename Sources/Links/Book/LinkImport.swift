/// Links that come from elsewhere, as a table: each keeps its suffix.
public struct LinkImport: Sendable {
  /// One row.
  public struct Row: Sendable, Hashable {
    /// Where it stands in the table, from 1 on.
    public let number: Int
    /// The short link, as it was written.
    public let short: String
    /// The long link, or just what it opens, as it was written.
    public let long: String
    public let name: String?
    /// Whether the table says that it is switched off.
    public var isDisabled = false
  }

  /// What became of a row.
  public enum Outcome: Sendable, Hashable {
    case created
    /// It was there, with the same content.
    case unchanged
    /// It was not taken: why.
    case refused(String)
  }

  /// The rows below the names of the columns.
  public let rows: [Row]

  private static let shortNames: Set<String> = ["shortlink", "shorturl", "short", "shortdynamiclink", "link", "url", "alias"]
  private static let longNames: Set<String> = [
    "longlink", "longurl", "long", "longdynamiclink", "dynamiclink", "destination", "deeplink", "target",
  ]
  private static let titleNames: Set<String> = ["name", "linkname", "title", "label"]
  private static let stateNames: Set<String> = ["state", "status"]
  /// What the column of states says of a link that is switched off.
  public static let disabledState = "disabled"

  /// Reads a table of comma-separated values. Its first row names the columns; without names the first is the short link
  /// and the second the long one.
  public init(csv text: String) throws(LinkFault) {
    guard let table = LinkCSV.rows(text) else { throw .invalid("The table has a quote that is not closed.") }
    guard let first = table.first else { throw .invalid("The table is empty.") }
    var (short, long, name, state): (Int, Int, Int?, Int?) = (0, 1, nil, nil)
    let hasHeader = !first.contains { $0.contains("://") }
    if hasHeader {
      let names = first.map { $0.lowercased().filter { $0.isLetter } }
      guard let foundShort = names.firstIndex(where: Self.shortNames.contains),
        let foundLong = names.indices.first(where: { $0 != foundShort && Self.longNames.contains(names[$0]) })
      else {
        throw .invalid(
          "The first row must name a column \"short link\" and one \"long link\"; it names \(first.joined(separator: ", ").prefix(200))."
        )
      }
      (short, long, name) = (foundShort, foundLong, names.firstIndex(where: Self.titleNames.contains))
      state = names.firstIndex(where: Self.stateNames.contains)
    }
    rows = table.enumerated().dropFirst(hasHeader ? 1 : 0).map { index, fields in
      func field(_ column: Int?) -> String {
        guard let column, column < fields.count else { return "" }
        return fields[column].split(separator: " ").joined(separator: " ")
      }
      let title = field(name)
      return Row(
        number: index + 1, short: field(short), long: field(long), name: title.isEmpty ? nil : title,
        isDisabled: field(state).lowercased() == Self.disabledState)
    }
  }
}
