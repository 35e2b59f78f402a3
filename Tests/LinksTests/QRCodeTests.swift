import Testing

@testable import Links

@Suite struct QRCodeTests {
  @Test("the capacity of level M in bytes is the standard's")
  func capacity() {
    let known = [1: 14, 2: 26, 3: 42, 4: 62, 5: 84, 6: 106, 7: 122, 8: 152, 9: 180, 10: 213, 20: 666, 30: 1370, 40: 2331]
    for (number, bytes) in known {
      let version = QRVersion(number)
      #expect((version.dataBytes * 8 - 4 - version.lengthBits) / 8 == bytes, "version \(number)")
    }
    #expect(QRVersion.smallest(for: 2332) == nil && QRCode(String(repeating: "a", count: 2332)) == nil)
  }

  @Test("alignment patterns stand where the standard's table has them")
  func alignments() {
    #expect(QRVersion(1).alignments == [] && QRVersion(2).alignments == [6, 18] && QRVersion(7).alignments == [6, 22, 38])
    #expect(QRVersion(32).alignments == [6, 34, 60, 86, 112, 138])
    #expect(QRVersion(40).alignments == [6, 30, 58, 86, 114, 142, 170])
  }

  @Test("Reed-Solomon bytes make every block a multiple of the generator", arguments: [1, 5, 14, 40])
  func correction(_ number: Int) {
    let degree = QRVersion(number).correctionBytes
    let data = (0..<30).map { UInt8($0 * 7 & 0xFF) }
    let block = data + QRCodewords.remainder(of: data, generator: QRCodewords.generator(degree))
    var root: UInt8 = 1
    for _ in 0..<degree {
      #expect(block.reduce(UInt8(0)) { QRCodewords.product($0, root) ^ $1 } == 0)
      root = QRCodewords.product(root, 2)
    }
  }

  @Test("a code has its finders, its quiet zone, and a PNG with right checksums", arguments: [1, 100, 700, 2331])
  func images(_ length: Int) throws {
    let code = try #require(QRCode(String(repeating: "x", count: length)))
    for (x, y) in [(0, 0), (code.size - 7, 0), (0, code.size - 7)] {
      for offset in 0..<7 {
        #expect(code.isDark(x + offset, y) && code.isDark(x, y + offset) && code.isDark(x + 3, y + 3))
        #expect(!code.isDark(x + 1, y + 1))
      }
    }
    #expect(!code.isDark(-1, 0) && !code.isDark(0, code.size))
    let png = code.png(scale: 2)
    #expect(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && Array(png.suffix(8)) == [0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    // Two pixels a module are no code that a phone reads: it gets three.
    #expect(png[16..<20].reduce(0) { $0 << 8 | Int($1) } == (code.size + 8) * 3)
    let svg = code.svg()
    #expect(svg.contains("width=\"\((code.size + 8) * 8)\""))
    #expect(svg.contains("viewBox=\"0 0 \(code.size + 8) \(code.size + 8)\"") && svg.hasSuffix("</svg>\n"))
  }
}
