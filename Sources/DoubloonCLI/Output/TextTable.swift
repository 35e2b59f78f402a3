import AdminModel
import ServerApp
package import TreeModel

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

extension BinaryInteger {
  /// The digits in groups of three: `1,234,567`.
  var grouped: String {
    var digits = String(magnitude)
    var index = digits.endIndex
    while digits.distance(from: digits.startIndex, to: index) > 3 {
      index = digits.index(index, offsetBy: -3)
      digits.insert(",", at: index)
    }
    return (self < 0 ? "-" : "") + digits
  }

  /// So many bytes, in the unit that fits: `512 bytes`, `3.4 GB`.
  var byteText: String {
    let units = ["kB", "MB", "GB", "TB", "PB"]
    guard self >= 1000 else { return "\(self) bytes" }
    var (tenths, unit) = (Int64(clamping: self) / 100, 0)
    while tenths >= 10_000, unit < units.count - 1 { (tenths, unit) = (tenths / 1000, unit + 1) }
    return "\((tenths / 10).grouped).\(tenths % 10) \(units[unit])"
  }

  /// The number and its noun: `1 entry`, `2 entries`.
  func counted(_ one: String, many: String) -> String { "\(grouped) \(self == 1 ? one : many)" }
}

extension JSON {
  /// The value on one line as people read it: texts without quotes, objects as `name value, name value`.
  var plainText: String {
    switch self {
    case .null: "-"
    case .string(let text): text
    case .object(let members): members.map { "\($0.key) \($0.value.plainText)" }.joined(separator: ", ")
    case .array(let elements): elements.map(\.plainText).joined(separator: ", ")
    default: compactText
    }
  }

  /// The elements of a list by its name; none if it is missing.
  package func listed(_ name: String) -> [JSON] { self[name]?.array ?? [] }
}

extension Timestamp {
  /// RFC 3339 in UTC.
  var text: String { TimePoint(milliseconds: milliseconds).description }
}

extension Timestamp? {
  /// RFC 3339 in UTC; a dash for none.
  var text: String { self?.text ?? "-" }
}
