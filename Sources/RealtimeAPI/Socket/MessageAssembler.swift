/// Puts a client's text frames together to messages (spec: rtdb-protocol §3.2).
///
/// A message longer than 16384 characters comes as its number of pieces, then the pieces. A piece may itself look like a
/// number, so what a frame is depends on what came before it, never on the frame alone.
struct MessageAssembler {
  enum Step: Equatable {
    case message([UInt8])
    /// More is to come, or a client only said that it is there (`0`).
    case nothing
  }

  /// Pieces that a message may have; the clients themselves go no further.
  static let piecesMax = 9999
  /// The longest frame that is looked at as a number.
  private static let digitsMax = 6

  private let bytesMax: Int
  /// The pieces that are still to come.
  private var missing = 0
  private var pieces: [UInt8] = []

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  /// Bytes of a message that is not whole.
  var heldBytes: Int { pieces.count }

  /// Takes the next text frame.
  mutating func take(_ frame: [UInt8]) throws(WebSocketFault) -> Step {
    guard missing > 0 else { return try begin(frame) }
    guard frame.count <= bytesMax - pieces.count else {
      throw WebSocketFault(.messageTooBig, "A message may have \(bytesMax) bytes: write less at once.")
    }
    pieces += frame
    missing -= 1
    guard missing == 0 else { return .nothing }
    defer { pieces = [] }
    return .message(pieces)
  }

  private mutating func begin(_ frame: [UInt8]) throws(WebSocketFault) -> Step {
    guard frame.count <= Self.digitsMax, !frame.isEmpty, frame.allSatisfy({ (48...57).contains($0) }) else {
      return .message(frame)
    }
    missing = frame.reduce(0) { $0 * 10 + Int($1 - 48) }
    guard missing <= Self.piecesMax else {
      throw WebSocketFault(.messageTooBig, "A message may have \(Self.piecesMax) pieces: write less at once.")
    }
    return .nothing
  }
}
