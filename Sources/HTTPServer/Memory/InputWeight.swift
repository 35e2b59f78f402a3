/// About how many bytes a JSON text takes while it is parsed, judged and written.
///
/// A value of one digit becomes a node of the tree, a change and a row: it weighs a hundred times what it measures. What
/// stands between values is counted instead of the values, without parsing; in a text that holds commas it is too many.
package enum InputWeight {
  /// What a value takes beyond its text.
  private static let valueBytes = 128
  /// Values that are counted: no commit has more, and what is parsed beyond them is refused.
  private static let valuesMax = 100_000
  /// Texts up to here weigh what they measure: hundreds of them are nothing.
  private static let lightBytesMax = 1024

  package static func of(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.count > lightBytesMax else { return bytes.count }
    var values = 0
    for byte in bytes where byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") { values &+= 1 }
    return bytes.count + min(values, valuesMax) * valueBytes
  }
}
