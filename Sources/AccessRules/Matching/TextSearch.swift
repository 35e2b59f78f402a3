/// Finds a text in others, byte by byte: Swift's own search would find `é` in one spelling where the other is.
///
/// Knuth, Morris and Pratt's way, so that no text and no pattern costs more than their lengths.
struct TextSearch {
  private let pattern: [UInt8]
  /// For each prefix of the pattern, how much of its beginning it ends with.
  private let borders: [Int]

  init(_ pattern: String) {
    let pattern = Array(pattern.utf8)
    var borders = [Int](repeating: 0, count: pattern.count)
    var border = 0
    for i in pattern.indices.dropFirst() {
      while border > 0, pattern[border] != pattern[i] { border = borders[border - 1] }
      if pattern[border] == pattern[i] { border += 1 }
      borders[i] = border
    }
    self.pattern = pattern
    self.borders = borders
  }

  func isFound(in text: String) -> Bool {
    if pattern.isEmpty { return true }
    var matched = 0
    for byte in text.utf8 {
      matched = advance(matched, byte: byte)
      if matched == pattern.count { return true }
    }
    return false
  }

  /// Every place of the pattern replaced, from the left; nil if the result has more bytes than allowed. An empty pattern is
  /// found nowhere.
  func replacing(in text: String, by other: String, bytesMax: Int) -> String? {
    if pattern.isEmpty { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    var matched = 0
    for byte in text.utf8 {
      result.append(byte)
      matched = advance(matched, byte: byte)
      if matched == pattern.count {
        result.removeLast(pattern.count)
        result.append(contentsOf: other.utf8)
        matched = 0
      }
      if result.count > bytesMax { return nil }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func advance(_ matched: Int, byte: UInt8) -> Int {
    var matched = matched
    while matched > 0, pattern[matched] != byte { matched = borders[matched - 1] }
    return pattern[matched] == byte ? matched + 1 : matched
  }
}
