/// One of the forty sizes of QR codes, with what level M gives it (ISO/IEC 18004, tables 1 and 9).
struct QRVersion: Sendable {
  /// 1 to 40.
  let number: Int
  /// Bytes of error correction in each block.
  let correctionBytes: Int
  /// How many blocks the bytes are spread over.
  let blockCount: Int

  /// For level M, versions 1 to 40.
  private static let correction = [
    10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 28,
  ]
  private static let blocks = [
    1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37,
    38, 40, 43, 45, 47, 49,
  ]

  init(_ number: Int) {
    self.number = number
    correctionBytes = Self.correction[number - 1]
    blockCount = Self.blocks[number - 1]
  }

  /// The smallest that holds so many bytes; nil if none does.
  static func smallest(for count: Int) -> QRVersion? {
    (1...40).lazy.map(QRVersion.init).first { version in
      count * 8 + 4 + version.lengthBits <= version.dataBytes * 8
    }
  }

  /// Modules on a side.
  var size: Int { 4 * number + 17 }
  /// Bits that say how long the text is.
  var lengthBits: Int { number < 10 ? 8 : 16 }

  /// All bytes, data and correction.
  var totalBytes: Int {
    var modules = (16 * number + 128) * number + 64
    if number >= 2 {
      let alignments = number / 7 + 2
      modules -= (25 * alignments - 10) * alignments - 55
      if number >= 7 { modules -= 36 }
    }
    return modules / 8
  }

  var dataBytes: Int { totalBytes - correctionBytes * blockCount }

  /// Where the centres of alignment patterns are, on both axes.
  var alignments: [Int] {
    guard number > 1 else { return [] }
    let count = number / 7 + 2
    let step = number == 32 ? 26 : (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
    return [6] + (0..<(count - 1)).map { size - 7 - $0 * step }.reversed()
  }
}
