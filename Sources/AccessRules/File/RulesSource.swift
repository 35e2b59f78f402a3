/// The bytes of a rules file, with the places of its lines.
final class RulesSource: Sendable {
  let bytes: [UInt8]
  /// The offset of each line's first byte.
  private let lines: [Int]

  init(_ source: String) {
    var bytes = Array(source.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    var lines = [0]
    for (offset, byte) in bytes.enumerated() {
      let isLast = offset + 1 == bytes.count
      if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && (isLast || bytes[offset + 1] != UInt8(ascii: "\n"))) {
        lines.append(offset + 1)
      }
    }
    self.bytes = bytes
    self.lines = lines
  }

  /// The line and column of a byte. Costs a walk along its line.
  func position(of offset: Int) -> RulesPosition {
    let offset = min(max(offset, 0), bytes.count)
    var low = 0
    var high = lines.count
    while low < high {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    let column = bytes[lines[low - 1]..<offset].count { $0 & 0xC0 != 0x80 } + 1
    return RulesPosition(line: low, column: column)
  }
}
