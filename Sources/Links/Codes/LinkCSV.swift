/// Comma-separated values (RFC 4180): as spreadsheets write them, quoted or not, with any line end.
public enum LinkCSV {
  /// Reads the rows; nil if a quote is not closed.
  public static func rows(_ text: String) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    let bytes = Array(text.utf8)
    var at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func decoded(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if isQuoted {
        guard byte == UInt8(ascii: "\"") else {
          field.append(byte)
          continue
        }
        if at < bytes.count, bytes[at] == byte {
          field.append(byte)
          at += 1
        } else {
          isQuoted = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\"") where field.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
      case UInt8(ascii: ","):
        row.append(decoded(field))
        (field, wasQuoted) = ([], false)
      case 13 where at < bytes.count && bytes[at] == 10: break
      case 10, 13:
        if !row.isEmpty || !field.isEmpty || wasQuoted { rows.append(row + [decoded(field)]) }
        (row, field, wasQuoted) = ([], [], false)
      default: field.append(byte)
      }
    }
    guard !isQuoted else { return nil }
    if !row.isEmpty || !field.isEmpty || wasQuoted { rows.append(row + [decoded(field)]) }
    return rows
  }

  /// One row with its line end. What a spreadsheet would take for a formula gets an apostrophe in front.
  public static func line(_ fields: [String]) -> String {
    fields.map { field in
      let isFormula = field.utf8.first.map { [0x3D, 0x2B, 0x2D, 0x40].contains($0) } ?? false
      let text = isFormula ? "'" + field : field
      let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
      return needsQuotes
        ? "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" : text
    }.joined(separator: ",") + "\r\n"
  }
}
