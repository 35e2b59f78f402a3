import TestSupport
import Testing

@testable import RealtimeAPI

/// Messages as pieces and back (firebase-js-sdk, `WebSocketConnection.ts`).
struct FramingTests {
  static func take(_ frames: [String], max: Int = 1 << 20) throws -> [String] {
    var assembler = MessageAssembler(bytesMax: max)
    var messages: [String] = []
    for frame in frames {
      if case .message(let bytes) = try assembler.take(Array(frame.utf8)) {
        messages.append(String(decoding: bytes, as: UTF8.self))
      }
    }
    return messages
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let frames: [String]
    let messages: [String]
    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "a message alone", frames: ["{}"], messages: ["{}"]),
    Row(name: "with its number", frames: ["1", "{}"], messages: ["{}"]),
    Row(name: "in three pieces", frames: ["3", "{\"a\"", ":", "1}"], messages: ["{\"a\":1}"]),
    Row(name: "pieces that look like numbers", frames: ["3", "[1", "2", "3]"], messages: ["[123]"]),
    Row(name: "a piece that looks like a keepalive", frames: ["2", "0", "0"], messages: ["00"]),
    Row(name: "keepalives between messages", frames: ["0", "{}", "0", "0", "[]"], messages: ["{}", "[]"]),
    Row(name: "an empty piece", frames: ["2", "", "{}"], messages: ["{}"]),
    Row(name: "leading zeros", frames: ["02", "{", "}"], messages: ["{}"]),
    Row(name: "seven digits are no number", frames: ["1234567"], messages: ["1234567"]),
    Row(name: "a short text is no number", frames: ["{}", "-1", "1e3", ""], messages: ["{}", "-1", "1e3", ""]),
    Row(name: "a count that is never kept", frames: ["5", "{", "}"], messages: []),
  ]

  @Test("What a frame means depends on what came before it", arguments: rows)
  func table(_ row: Row) throws {
    #expect(try Self.take(row.frames) == row.messages)
  }

  @Test("Counts and sums beyond what a message may have are faults")
  func limits() throws {
    #expect(throws: WebSocketError.self) { try Self.take(["10000"]) }
    #expect(throws: WebSocketError.self) { try Self.take(["999999"]) }
    #expect(throws: Never.self) { try Self.take(["9999"]) }
    #expect(throws: WebSocketError.self) { try Self.take(["3", "aaaaaa", "aaaaa"], max: 10) }
  }

  @Test("Text of any characters is cut between them, and comes back whole", arguments: 1...40)
  func roundTrip(seed: UInt64) throws {
    var source = SplitMix64(seed: seed)
    let alphabet = ["a", "é", "€", "😀", "\u{FFFF}", "0"]
    let wanted = Int.random(in: 0...60_000, using: &source)
    var text = String(repeating: "x", count: Int.random(in: 16_370...16_390, using: &source))
    while text.utf8.count < wanted {
      text += String(
        repeating: alphabet[Int.random(in: 0..<alphabet.count, using: &source)], count: Int.random(in: 1...900, using: &source))
    }
    let bytes = Array(text.utf8)
    let pieces = try #require(MessagePieces.cut(bytes)).map { String(validating: bytes[$0], as: UTF8.self) }
    #expect(pieces.allSatisfy { ($0?.utf16.count ?? .max) <= 16_384 })
    let frames = pieces.compactMap(\.self)
    #expect(try Self.take((frames.count > 1 ? ["\(frames.count)"] : []) + frames) == [text])
  }

  @Test("As few pieces as can be, and none for what clients cannot count")
  func pieceCount() {
    #expect(MessagePieces.cut([UInt8](repeating: 97, count: 16_384))?.count == 1)
    #expect(MessagePieces.cut([UInt8](repeating: 97, count: 16_385))?.count == 2)
    #expect(MessagePieces.cut(Array(String(repeating: "€", count: 16_384).utf8))?.count == 1)
    #expect(MessagePieces.cut(Array(String(repeating: "😀", count: 8193).utf8)) == [0..<32_768, 32_768..<32_772])
    #expect(MessagePieces.cut([]) == [0..<0])
  }
}
