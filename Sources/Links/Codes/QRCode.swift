/// A QR code of a text: byte mode, error correction level M (ISO/IEC 18004).
public struct QRCode: Sendable {
  /// Modules on a side, without the quiet zone.
  public let size: Int
  /// Row by row; true is dark.
  private(set) var modules: [Bool]

  /// How many pixels a module of an image may have: phones do not read fewer off a screen.
  public static let scales = 3...64

  /// Encodes a text in the smallest version that holds it.
  ///
  /// - Returns: nil if it has more than 2331 bytes.
  public init?(_ text: String) {
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
  public func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
  }

  /// The code as SVG, with a quiet zone of four modules: one path, sharp at any size; eight pixels a module where nothing
  /// else says how large it is.
  public func svg() -> String {
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
  public func png(scale: Int = 8) -> [UInt8] {
    let scale = min(Self.scales.upperBound, max(Self.scales.lowerBound, scale))
    let edge = (size + 8) * scale
    return PNGImage.encode(width: edge, height: edge) { x, y in isDark(x / scale - 4, y / scale - 4) }
  }
}
