/// A table of comma-separated values as RFC 4180 has it, and nothing that is nearly one: what is not clear is a fault, and no
/// value means anything but its text.
///
/// A byte order mark before it is left out, lines end with LF or CRLF, empty lines count for nothing.
struct CSVTable: Sendable, Hashable {
  /// One record. It may stretch over several lines of the text.
  struct Row: Sendable, Hashable {
    /// The line on which it begins, from 1 on.
    let line: Int
    let fields: [String]
  }

  /// What makes a text no table.
  struct Fault: Error, Sendable, Hashable {
    let line: Int
    /// The field, from 1 on.
    let column: Int
    let message: String
  }

  let rows: [Row]

  /// Reads a text.
  ///
  /// - `rowsMax`: a row more is a fault, and the last thing that is read.
  init(_ text: String, rowsMax: Int) throws(Fault) {
    var reader = CSVReader(text, rowsMax: rowsMax)
    rows = try reader.read()
  }
}

private struct CSVReader {
  private static let (comma, quote, cr, lf) = (UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"))
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let bytes: [UInt8]
  private let rowsMax: Int
  private var position = 0
  private var line = 1
  private var fields: [String] = []

  init(_ text: String, rowsMax: Int) {
    bytes = Array(text.utf8)
    self.rowsMax = rowsMax
    if bytes.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
  }

  mutating func read() throws(CSVTable.Fault) -> [CSVTable.Row] {
    var rows: [CSVTable.Row] = []
    while position < bytes.count {
      let begin = line
      fields = []
      repeat { fields.append(try field()) } while try !endsRow()
      if fields == [""] { continue }
      guard rows.count < rowsMax else {
        throw CSVTable.Fault(line: begin, column: 1, message: "There are more than \(rowsMax) lines: cut the file in parts.")
      }
      rows.append(CSVTable.Row(line: begin, fields: fields))
    }
    return rows
  }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func fault(_ message: String, line: Int? = nil) -> CSVTable.Fault {
    CSVTable.Fault(line: line ?? self.line, column: fields.count + 1, message: message)
  }

  private mutating func field() throws(CSVTable.Fault) -> String {
    if byte == Self.quote { return try quoted() }
    let begin = position
    while let byte, byte != Self.comma, byte != Self.cr, byte != Self.lf {
      guard byte != Self.quote else {
        throw fault("A quote stands inside a value: put the whole value in quotes, and write each quote in it twice.")
      }
      position += 1
    }
    return String(decoding: bytes[begin..<position], as: UTF8.self)
  }

  private mutating func quoted() throws(CSVTable.Fault) -> String {
    let begin = line
    var value: [UInt8] = []
    position += 1
    while let byte {
      position += 1
      if byte == Self.lf { line += 1 }
      guard byte == Self.quote else {
        value.append(byte)
        continue
      }
      guard self.byte == Self.quote else { return String(decoding: value, as: UTF8.self) }
      value.append(byte)
      position += 1
    }
    throw fault("A quote that opens here is never closed.", line: begin)
  }

  /// Goes behind what follows a field; whether the row ends there.
  private mutating func endsRow() throws(CSVTable.Fault) -> Bool {
    guard let byte else { return true }
    position += 1
    switch byte {
    case Self.comma: return false
    case Self.cr:
      guard self.byte == Self.lf else { throw fault("A line ends with CR alone: end lines with LF or CRLF.") }
      position += 1
      line += 1
      return true
    case Self.lf:
      line += 1
      return true
    default: throw CSVTable.Fault(line: line, column: fields.count, message: "Text stands behind a closing quote.")
    }
  }
}
