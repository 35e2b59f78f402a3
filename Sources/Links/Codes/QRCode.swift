/// A QR code of a text: byte mode, error correction level M (ISO/IEC 18004).
package struct QRCode: Sendable {
  /// Modules on a side, without the quiet zone.
  package let size: Int
  /// Row by row; true is dark.
  private(set) var modules: [Bool]

  /// How many pixels a module of an image may have: phones do not read fewer off a screen.
  package static let scales = 3...64

  /// Encodes a text in the smallest version that holds it.
  ///
  /// - Returns: nil if it has more than 2331 bytes.
  package init?(_ text: String) {
    let data = Array(text.utf8)
    guard let version = QRVersion.smallest(for: data.count) else { return nil }
    size = version.size
    modules = []
    let codewords = QRCodewords(data, version).interleaved
    var canvas = QRCanvas(version)
    canvas.place(codewords)
    modules = canvas.masked()
  }

  /// Whether a module is dark; outside of the code all are light.
  package func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
  }

  /// The code as SVG, with a quiet zone of four modules: one path, sharp at any size; eight pixels a module where nothing
  /// else says how large it is.
  package func svg() -> String {
    let edge = size + 8
    var path = ""
    for y in 0..<size {
      var x = 0
      while x < size {
        guard isDark(x, y) else {
          x += 1
          continue
        }
        let start = x
        while isDark(x, y) { x += 1 }
        path += "M\(start + 4) \(y + 4)h\(x - start)v1h-\(x - start)z"
      }
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(edge * 8)" height="\(edge * 8)" viewBox="0 0 \(edge) \(edge)" \
      shape-rendering="crispEdges">\
      <rect width="\(edge)" height="\(edge)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>

      """
  }

  /// The code as PNG, with a quiet zone of four modules.
  ///
  /// - Parameter scale: pixels of a module, one of ``scales``.
  package func png(scale: Int = 8) -> [UInt8] {
    let scale = min(Self.scales.upperBound, max(Self.scales.lowerBound, scale))
    let edge = (size + 8) * scale
    return PNGImage.encode(width: edge, height: edge) { x, y in isDark(x / scale - 4, y / scale - 4) }
  }
}

/// Writes images of two colours as PNG (ISO/IEC 15948): one bit a pixel, not compressed, which is little for a QR code.
enum PNGImage {
  /// - `isDark`: whether a pixel is black.
  static func encode(width: Int, height: Int, isDark: (Int, Int) -> Bool) -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for start in stride(from: 0, to: width, by: 8) {
        var byte: UInt8 = 0
        for x in start..<min(start + 8, width) where !isDark(x, y) { byte |= 0x80 >> UInt8(x - start) }
        rows.append(byte)
      }
    }
    var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    chunk("IHDR", data: bytes(UInt32(width)) + bytes(UInt32(height)) + [1, 0, 0, 0, 0], to: &png)
    chunk("IDAT", data: stored(rows), to: &png)
    chunk("IEND", data: [], to: &png)
    return png
  }

  /// A zlib stream of stored blocks (RFC 1950 and 1951).
  private static func stored(_ data: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 65_535, data.count)
      let length = UInt16(end - start)
      stream.append(end == data.count ? 1 : 0)
      stream += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
      stream += data[start..<end]
      start = end
    } while start < data.count
    var (a, b) = (UInt32(1), UInt32(0))
    for byte in data {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return stream + bytes(b << 16 | a)
  }

  private static func chunk(_ name: StaticString, data: [UInt8], to png: inout [UInt8]) {
    let body = Array(String(describing: name).utf8) + data
    png += bytes(UInt32(data.count)) + body + bytes(checksum(body))
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }

  private static func checksum(_ data: [UInt8]) -> UInt32 {
    var rest: UInt32 = 0xFFFF_FFFF
    for byte in data { rest = table[Int((rest ^ UInt32(byte)) & 0xFF)] ^ rest >> 8 }
    return rest ^ 0xFFFF_FFFF
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
