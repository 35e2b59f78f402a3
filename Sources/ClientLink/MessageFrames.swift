/// Takes long messages of the protocol apart, and puts them together again: first a frame with their number, then the pieces.
package struct MessageFrames: Sendable {
  /// Bytes that a piece may have: no more than that many UTF-16 units, whatever they are.
  package static let pieceBytesMax = 16_384
  /// Pieces that a message may have.
  package static let piecesMax = 9999
  /// Bytes of a message that are put together, as many as a frame of its own may have.
  package static let messageBytesMax = 64 << 20

  private var message: [UInt8] = []
  private var piecesLeft = 0

  package init() {}

  /// A frame arrived.
  ///
  /// - Returns: the message that it completes; nil if there is more to come, or it says nothing.
  /// - Throws: ``ProtocolError`` if it cannot be part of any message.
  package mutating func receive(_ frame: [UInt8]) throws(ProtocolError) -> [UInt8]? {
    guard piecesLeft > 0 else {
      guard let count = Self.number(frame) else { return frame }
      guard count <= Self.piecesMax else { throw ProtocolError("a message of \(count) pieces") }
      piecesLeft = count
      return nil
    }
    guard message.count + frame.count <= Self.messageBytesMax else { throw ProtocolError("a message that is too long") }
    message += frame
    piecesLeft -= 1
    if piecesLeft > 0 { return nil }
    defer { message = [] }
    return message
  }

  /// The frames of a message; nil if it is too long.
  package static func frames(of message: [UInt8]) -> [[UInt8]]? {
    if message.count <= pieceBytesMax { return [message] }
    var frames: [[UInt8]] = []
    var start = 0
    while start < message.count {
      var end = min(start + pieceBytesMax, message.count)
      // Not within a character: its other bytes begin with 10.
      while end < message.count, end > start + 1, message[end] & 0xC0 == 0x80 { end -= 1 }
      frames.append(Array(message[start..<end]))
      start = end
    }
    guard frames.count <= piecesMax else { return nil }
    return [Array(String(frames.count).utf8)] + frames
  }

  private static func number(_ frame: [UInt8]) -> Int? {
    guard !frame.isEmpty, frame.count <= 6, frame.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return frame.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}

/// What a server sent that no server of this protocol sends.
package struct ProtocolError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ what: String) {
    description = "The server sent \(what): is it a server of another kind?"
  }
}
