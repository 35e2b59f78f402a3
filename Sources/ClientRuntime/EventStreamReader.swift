/// Cuts a stream into events (WHATWG HTML, Server-sent events): lines, of which an empty one ends an event.
package struct EventStreamReader {
  /// Bytes that one event may have.
  package static let eventBytesMax = 64 << 20

  private var line: [UInt8] = []
  private var afterReturn = false
  private var name = ""
  private var data: [String] = []
  private var count = 0

  package init() {}

  /// The events that end in these bytes.
  ///
  /// - Throws: ``TransportError`` for an event that is too large.
  package mutating func read(_ bytes: some Sequence<UInt8>) throws -> [StreamEvent] {
    var events: [StreamEvent] = []
    for byte in bytes {
      defer { afterReturn = byte == 0x0D }
      if byte == 0x0A && afterReturn { continue }
      guard byte == 0x0A || byte == 0x0D else {
        line.append(byte)
        count += 1
        guard count <= Self.eventBytesMax else {
          throw TransportError(.tooLarge, "One event of the stream is larger than \(Self.eventBytesMax >> 20) MB.")
        }
        continue
      }
      if let event = endLine() { events.append(event) }
    }
    return events
  }

  private mutating func endLine() -> StreamEvent? {
    defer { line = [] }
    guard !line.isEmpty else {
      defer { (name, data, count) = ("", [], 0) }
      return data.isEmpty ? nil : StreamEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
    var value = line[min(colon + 1, line.count)...]
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    switch String(decoding: line[..<colon], as: UTF8.self) {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data": data.append(String(decoding: value, as: UTF8.self))
    default: break
    }
    return nil
  }
}
