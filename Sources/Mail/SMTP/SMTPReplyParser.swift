/// Cuts a server's bytes into replies: lines of one number, of which the last has a blank behind it.
struct SMTPReplyParser {
  /// What no mail server says.
  enum Fault: Error, Sendable, Hashable {
    case lineTooLong
    case tooManyLines
    case notAReply(String)
  }

  /// Bytes of one line; the standard has 512.
  static let lineBytesMax = 4096
  static let linesMax = 128

  private var line: [UInt8] = []
  private var code: Int?
  private var lines: [String] = []

  /// Whether something has begun that has not ended.
  var isInside: Bool { !line.isEmpty || code != nil }

  /// Takes in bytes, and gives out the replies that are complete.
  mutating func take(_ bytes: some Sequence<UInt8>) throws(Fault) -> [SMTPReply] {
    var replies: [SMTPReply] = []
    for byte in bytes {
      guard byte == 10 else {
        guard line.count < Self.lineBytesMax else { throw .lineTooLong }
        line.append(byte)
        continue
      }
      if line.last == 13 { line.removeLast() }
      if let reply = try end() { replies.append(reply) }
    }
    return replies
  }

  private mutating func end() throws(Fault) -> SMTPReply? {
    defer { line = [] }
    let digits = line.prefix(3)
    let mark = line.count > 3 ? line[3] : UInt8(ascii: " ")
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }), let first = digits.first, (50...53).contains(first),
      mark == UInt8(ascii: " ") || mark == UInt8(ascii: "-")
    else {
      throw .notAReply(String(decoding: line.prefix(80), as: UTF8.self).withoutControls)
    }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    guard code == nil || code == number else { throw .notAReply("\(number) in a reply \(code ?? 0)") }
    guard lines.count < Self.linesMax else { throw .tooManyLines }
    lines.append(String(decoding: line.dropFirst(4), as: UTF8.self))
    guard mark == UInt8(ascii: " ") else {
      code = number
      return nil
    }
    defer { (code, lines) = (nil, []) }
    return SMTPReply(code: number, lines: lines)
  }
}
