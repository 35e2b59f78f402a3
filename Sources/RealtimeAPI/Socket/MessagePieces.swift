/// Cuts a server's message into the pieces that clients accept (spec: rtdb-protocol §3.2).
enum MessagePieces {
  /// UTF-16 units that a frame may have.
  static let unitsMax = 16_384

  /// About how many frames a message takes: one, or its number and its pieces.
  static func frameCount(_ message: [UInt8]) -> Int {
    message.count <= unitsMax ? 1 : 1 + (message.count + unitsMax - 1) / unitsMax
  }

  /// The pieces of a message, cut between characters' code points; a single one goes without its number.
  ///
  /// - Parameter message: UTF-8.
  /// - Returns: nil if the message needs more pieces than clients count.
  static func cut(_ message: [UInt8]) -> [Range<Int>]? {
    // A character never has more UTF-16 units than UTF-8 bytes: nearly every message ends here.
    guard message.count > unitsMax else { return [0..<message.count] }
    var pieces: [Range<Int>] = []
    var start = 0
    var units = 0
    for (index, byte) in message.enumerated() where byte & 0xC0 != 0x80 {
      let width = byte >= 0xF0 ? 2 : 1
      if units + width > unitsMax {
        pieces.append(start..<index)
        start = index
        units = 0
      }
      units += width
    }
    pieces.append(start..<message.count)
    return pieces.count <= MessageAssembler.piecesMax ? pieces : nil
  }
}
