import Crypto
import TreeModel

/// Puts texts into HTML.
enum HTMLText {
  /// The text as it may stand between tags and in a quoted attribute.
  static func escape(_ text: String) -> String {
    guard text.utf8.contains(where: { special($0) != nil }) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if let entity = special(byte) { bytes.append(contentsOf: entity.utf8) } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func special(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    case 0..<9, 11, 12, 14..<32, 127: " "
    default: nil
    }
  }

  /// What a policy names an inline style or script by: its exact text.
  static func source(_ text: String) -> String {
    "'sha256-\(Base64.encode(SHA256.hash(data: Array(text.utf8)), as: .standard))'"
  }
}
