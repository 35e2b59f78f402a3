/// The bytes of a QR code: the text with its length and padding, and the Reed-Solomon bytes that repair it.
struct QRCodewords {
  /// Data and correction of all blocks, in the order in which they are drawn.
  let interleaved: [UInt8]

  init(_ text: [UInt8], _ version: QRVersion) {
    var bits = BitList()
    bits.append(0b0100, 4)
    bits.append(text.count, version.lengthBits)
    for byte in text { bits.append(Int(byte), 8) }
    let capacity = version.dataBytes * 8
    bits.append(0, min(4, capacity - bits.count))
    bits.append(0, (8 - bits.count % 8) % 8)
    var data = bits.bytes
    var filler: UInt8 = 0xEC
    while data.count < version.dataBytes {
      data.append(filler)
      filler ^= 0xEC ^ 0x11
    }

    let shortLength = version.totalBytes / version.blockCount - version.correctionBytes
    let longCount = version.totalBytes % version.blockCount
    let generator = Self.generator(version.correctionBytes)
    var blocks: [(data: [UInt8], correction: [UInt8])] = []
    var start = 0
    for index in 0..<version.blockCount {
      let length = shortLength + (index >= version.blockCount - longCount ? 1 : 0)
      let block = Array(data[start..<start + length])
      blocks.append((block, Self.remainder(of: block, generator: generator)))
      start += length
    }
    var result: [UInt8] = []
    for column in 0...shortLength {
      for block in blocks where column < block.data.count { result.append(block.data[column]) }
    }
    for column in 0..<version.correctionBytes {
      for block in blocks { result.append(block.correction[column]) }
    }
    interleaved = result
  }

  // MARK: Reed-Solomon over GF(256), modulo x⁸ + x⁴ + x³ + x² + 1

  static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    var (result, factor, rest) = (UInt8(0), a, b)
    while rest > 0 {
      if rest & 1 == 1 { result ^= factor }
      factor = factor & 0x80 == 0 ? factor << 1 : factor << 1 ^ 0x1D
      rest >>= 1
    }
    return result
  }

  /// The product of (x - 2ⁱ), without its leading 1.
  static func generator(_ degree: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for index in result.indices {
        result[index] = product(result[index], root)
        if index + 1 < result.count { result[index] ^= result[index + 1] }
      }
      root = product(root, 2)
    }
    return result
  }

  static func remainder(of data: [UInt8], generator: [UInt8]) -> [UInt8] {
    var rest = [UInt8](repeating: 0, count: generator.count)
    for byte in data {
      let factor = byte ^ rest.removeFirst()
      rest.append(0)
      for index in rest.indices { rest[index] ^= product(generator[index], factor) }
    }
    return rest
  }
}

/// Bits, collected to bytes.
struct BitList {
  private(set) var count = 0
  private(set) var bytes: [UInt8] = []

  /// Appends the lowest `width` bits, highest first.
  mutating func append(_ value: Int, _ width: Int) {
    for shift in (0..<width).reversed() {
      if count % 8 == 0 { bytes.append(0) }
      if value >> shift & 1 == 1 { bytes[count / 8] |= 0x80 >> UInt8(count % 8) }
      count += 1
    }
  }
}

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
