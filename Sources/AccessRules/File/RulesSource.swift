internal import TextFormats

/// The bytes of a rules file, with the places of its lines.
final class RulesSource: Sendable {
  let bytes: [UInt8]
  /// The offset of each line's first byte.
  private let lines: [Int]

  init(_ source: String) {
    let bytes = CommentedJSON.withoutByteOrderMark(Array(source.utf8))
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
  func position(of offset: Int) -> CommentedJSON.Position {
    let offset = min(max(offset, 0), bytes.count)
    var low = 0
    var high = lines.count
    while low < high {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    let column = bytes[lines[low - 1]..<offset].count { $0 & 0xC0 != 0x80 } + 1
    return CommentedJSON.Position(line: low, column: column)
  }
}

extension RulesSource {
  /// Arrays and objects inside each other: a path has at most 32 keys, each an object; the rest is for what the checks of
  /// the structure will refuse. Strings may go on over lines.
  private static let dialect = CommentedJSON.Dialect(
    nestingMax: 64, allowsControlCharacters: true, refusesDuplicateKeys: false)

  /// The file's one value.
  func document() throws(RulesError) -> CommentedJSON {
    do throws(CommentedJSONError) {
      return try CommentedJSON.parse(bytes, as: Self.dialect)
    } catch {
      // Firebase's tools and test libraries look for the first two words.
      throw RulesError(at: error.position, "Parse error. \(Self.message(error.reason))")
    }
  }

  private static func message(_ reason: CommentedJSONError.Reason) -> String {
    switch reason {
    case .trailingContent: "The rules end with their last \"}\"; remove what comes behind it."
    case .commentNotClosed: "This comment does not end; close it with */."
    case .unexpectedSlash: "Unexpected \"/\"; a comment begins with // or /*."
    case .nestedTooDeeply: "The rules are nested too deeply: a path has at most 32 keys."
    case .valueMissing: "The rules end too early: a value is missing."
    case .notAValue(let text):
      "Expected a value: an object, or a rule as a string, true or false\(text.isEmpty ? "" : ", not \(text)")."
    case .expectedKey: "Expected a key in double quotes."
    case .expectedColon: "Expected \":\" behind the key."
    case .expectedSeparator(let closing): "Expected \",\" or \"\(closing)\"."
    case .duplicateKey(let key): "\"\(key)\" is there twice."
    case .stringNotClosed: "This string does not end; close it with a double quote."
    case .controlCharacter: "A string cannot hold this control character."
    case .unknownEscape: "Unknown escape in a string; double a backslash that is meant as one."
    case .badUnicodeEscape: "\\u needs four hexadecimal digits."
    case .loneSurrogate: "Half of a surrogate pair in a string."
    }
  }
}
