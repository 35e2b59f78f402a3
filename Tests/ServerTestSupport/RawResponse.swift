package import TreeModel

/// An answer as it stood on the wire.
package struct RawResponse: Sendable {
  package let status: Int
  /// Names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: String

  package init(status: Int, headers: [(name: String, value: String)], body: String) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

  package var json: JSON? { try? JSONParser.parse(body) }

  /// What stands under `error`.
  package var error: String? { json?["error"]?.string }

  /// Reads one answer from the beginning of `bytes` and takes it off; nil if it is not complete.
  static func take(from bytes: inout [UInt8], isHead: Bool) -> RawResponse? {
    guard let end = headEnd(bytes) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { return nil }
    let headers = lines.dropFirst().map { line -> (name: String, value: String) in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
    let length = isHead ? 0 : headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
    guard bytes.count >= end + 4 + length else { return nil }
    let body = String(decoding: bytes[(end + 4)..<(end + 4 + length)], as: UTF8.self)
    bytes.removeFirst(end + 4 + length)
    return RawResponse(status: status, headers: headers, body: body)
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
  }
}
