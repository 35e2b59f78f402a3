import HTTPServer
import TextFormats
import TreeModel

/// Puts the segments of a long-polling client in order, and together to messages (firebase-js-sdk,
/// `BrowserPollConnection.ts`).
///
/// A message is base64url text cut into `ts` segments; segments are numbered through all messages, and come in requests that
/// may overtake each other.
struct LongPollSegments {
  struct Segment {
    let number: Int
    /// How many segments the message has that it belongs to.
    let total: Int
    let text: String
  }

  /// Segments that may wait for one that was overtaken.
  static let waitingMax = 256

  private let bytesMax: Int
  private var next = 0
  private var waiting: [Int: Segment] = [:]
  private var text: [UInt8] = []
  /// Segments that the present message still lacks.
  private var missing = 0

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  /// The segments of a request: `seg0`, `ts0`, `d0`, `seg1`, …; nil if they are not numbers.
  static func segments(in query: QueryString) -> [Segment]? {
    // The parameters are looked through once, however many there are.
    let values = Dictionary(query.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    var segments: [Segment] = []
    while let number = values["seg\(segments.count)"] {
      guard let number = Int(number), number >= 0, let total = values["ts\(segments.count)"].flatMap({ Int($0) }), total > 0,
        let text = values["d\(segments.count)"]
      else { return nil }
      segments.append(Segment(number: number, total: total, text: text))
    }
    return segments
  }

  /// Bytes of messages that are not whole, and of segments that wait for another.
  var heldBytes: Int { text.count + waiting.values.reduce(0) { $0 + $1.text.utf8.count } }

  /// Takes one request's segments.
  ///
  /// - Returns: the messages that are complete now.
  mutating func take(_ segments: [Segment]) throws(WebSocketError) -> [[UInt8]] {
    // One that came before is sent again by a client that had no answer.
    for segment in segments where segment.number >= next { waiting[segment.number] = segment }
    var messages: [[UInt8]] = []
    while let segment = waiting.removeValue(forKey: next) {
      next += 1
      if missing == 0 { missing = segment.total }
      text += segment.text.utf8
      // Four characters of base64 are three bytes.
      guard text.count / 4 * 3 <= bytesMax else {
        throw WebSocketError(.messageTooBig, "A message may have \(bytesMax) bytes: write less at once.")
      }
      missing -= 1
      guard missing == 0 else { continue }
      guard let message = Base64.decode(text.filter { $0 != UInt8(ascii: ".") }) else {
        throw WebSocketError(.policyViolation, "A message must be base64url.")
      }
      messages.append(message)
      text = []
    }
    guard waiting.count <= Self.waitingMax else {
      throw WebSocketError(.policyViolation, "Segment \(next) never came.")
    }
    return messages
  }
}
