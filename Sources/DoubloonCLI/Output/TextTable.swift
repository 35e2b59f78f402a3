import ServerApp

/// Rows under headings, in columns as wide as they need to be.
struct TextTable: Sendable {
  /// One column.
  struct Column: Sendable {
    /// What stands above it.
    let title: String
    /// Whether its cells stand at the right: numbers.
    let isNumber: Bool

    static func text(_ title: String) -> Column { Column(title: title, isNumber: false) }
    static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: [Column]) {
    self.columns = columns
  }

  /// Whether no row was added.
  var isEmpty: Bool { rows.isEmpty }

  /// Adds a row, a cell for each column.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count, "A row has a cell for each column.")
    rows.append(cells.map { $0.printable.replacingLineBreaks })
  }

  /// The lines, without spaces at their ends.
  ///
  /// - Parameter showsTitles: false for rows that continue an earlier table.
  func lines(showsTitles: Bool = true) -> [String] {
    let titles = showsTitles ? [columns.map(\.title)] : []
    let all = titles + rows
    let widths = columns.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { cells in
      var line = ""
      for (index, cell) in cells.enumerated() {
        let gap = String(repeating: " ", count: widths[index] - cell.count)
        if index > 0 { line += "  " }
        line += columns[index].isNumber ? gap + cell : cell + gap
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// The lines as one text.
  ///
  /// - Parameter width: how long a line may be; what is longer is cut in the last column. nil for as long as it is.
  func render(within width: Int? = nil) -> String {
    lines().map { line in
      guard let width, width > 3, line.count > width else { return line }
      return "\(line.prefix(width - 3))..."
    }.joined(separator: "\n")
  }
}

extension String {
  /// A cell is one line.
  fileprivate var replacingLineBreaks: String {
    contains("\n") ? split(separator: "\n").joined(separator: " ") : self
  }
}
