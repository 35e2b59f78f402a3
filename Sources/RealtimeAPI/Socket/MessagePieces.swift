import HTTPServer
import NIOCore
import TreeDatabase

/// Cuts a server's message into the pieces that clients accept (firebase-js-sdk, `WebSocketConnection.ts`).
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

/// Puts a client's text frames together to messages (firebase-js-sdk, `WebSocketConnection.ts`).
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
  mutating func take(_ frame: [UInt8]) throws(WebSocketError) -> Step {
    guard missing > 0 else { return try begin(frame) }
    guard frame.count <= bytesMax - pieces.count else {
      throw WebSocketError(.messageTooBig, "A message may have \(bytesMax) bytes: write less at once.")
    }
    pieces += frame
    missing -= 1
    guard missing == 0 else { return .nothing }
    defer { pieces = [] }
    return .message(pieces)
  }

  private mutating func begin(_ frame: [UInt8]) throws(WebSocketError) -> Step {
    guard frame.count <= Self.digitsMax, !frame.isEmpty, frame.allSatisfy({ (48...57).contains($0) }) else {
      return .message(frame)
    }
    missing = frame.reduce(0) { $0 * 10 + Int($1 - 48) }
    guard missing <= Self.piecesMax else {
      throw WebSocketError(.messageTooBig, "A message may have \(Self.piecesMax) pieces: write less at once.")
    }
    return .nothing
  }
}

/// A message for many clients of one event loop: rendered once, and framed once.
final class SharedMessage {
  let bytes: [UInt8]
  /// As frames of a WebSocket; nil if it is too large for one.
  private(set) lazy var frames: SharedBytes? = ByteBuffer.framed(bytes).map(SharedBytes.init)
  /// How many frames that is.
  var frameCount: Int { MessagePieces.frameCount(bytes) }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// What the listeners of one event loop get of the same commit is rendered once.
///
/// The hub hands one message to all listens of a loop one after the other, so remembering the last is enough.
final class PushCache {
  /// Messages up to here are kept for a push that may never come.
  private static let keptBytesMax = 64 << 10

  private var source: ListenMessage?
  private var tag: Int64?
  private var message: SharedMessage?

  init() {}

  /// The push of a message to a listen.
  ///
  /// - `path`: where the data belong, without a slash at its ends; the same for all listens that get the message.
  func push(_ source: ListenMessage, tag: Int64?, at path: @autoclosure () -> String) -> SharedMessage {
    if let message, self.source === source, self.tag == tag { return message }
    let made = SharedMessage(
      SocketAnswers.data(isMerge: source.kind == .merge, path: path(), body: source.body, tag: tag))
    self.source = source
    self.tag = tag
    message = made
    return made
  }

  /// The loop has handed on what there was: no other listen gets the last message, as a rule.
  func didFlush() {
    guard let message, message.bytes.count > Self.keptBytesMax else { return }
    source = nil
    self.message = nil
  }
}
