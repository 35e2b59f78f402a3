import Measuring

/// Doubloon over the Realtime Database's socket: one put or get, one answer.
struct SocketPeer: Peer {
  var port: Int
  private var number = 0
  private var isOpen = false
  private var isUpgraded = false

  init(port: Int) { self.port = port }

  func opening() -> [UInt8] {
    Array(
      """
      GET /.ws?v=5&ns=demo-default-rtdb HTTP/1.1\r
      Host: 127.0.0.1:\(port)\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      \r

      """.utf8)
  }

  mutating func request(_ turn: Turn) -> [UInt8] {
    number += 1
    let user = "/users/\(turn.player)"
    switch turn.step {
    case .create:
      let referred = turn.referrer.map { "\"referred_by\":\"\($0)\"," } ?? ""
      return put(user, "{\"name\":\"Player \(turn.player)\",\(referred)\"created_at\":\(turn.time)}")
    case .signIn: return put("\(user)/last_signin_at", String(turn.time))
    case .ownBalance, .referrerBalance:
      return frame("\"a\":\"g\",\"b\":{\"p\":\"/users/\(turn.reads)/inventory/pieces_of_eight\",\"q\":{}}")
    default: return put("\(user)/level", String(turn.step.level ?? 0))
    }
  }

  private func put(_ path: String, _ value: String) -> [UInt8] {
    frame("\"a\":\"p\",\"b\":{\"p\":\"\(path)\",\"d\":\(value)}")
  }

  /// A text frame, masked as a client's must be.
  private func frame(_ request: String) -> [UInt8] {
    let text = Array("{\"t\":\"d\",\"d\":{\"r\":\(number),\(request)}}".utf8)
    let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
    var bytes: [UInt8] = [0x81]
    if text.count < 126 {
      bytes.append(0x80 | UInt8(text.count))
    } else {
      bytes += [0x80 | 126, UInt8(text.count >> 8), UInt8(text.count & 255)]
    }
    bytes += mask
    for (index, byte) in text.enumerated() { bytes.append(byte ^ mask[index & 3]) }
    return bytes
  }

  mutating func reply(from input: inout Input) -> Reply? {
    guard isUpgraded else {
      guard let end = input.find([13, 10, 13, 10]) else { return nil }
      let head = String(decoding: input.slice(0..<end), as: UTF8.self)
      input.consume(end + 4)
      isUpgraded = head.hasPrefix("HTTP/1.1 101")
      return isUpgraded ? .other : .failed(head)
    }
    guard input.count >= 2 else { return nil }
    var length = Int(input[1] & 127)
    var start = 2
    if length == 126 {
      guard input.count >= 4 else { return nil }
      length = Int(input[2]) << 8 | Int(input[3])
      start = 4
    }
    guard input.count >= start + length else { return nil }
    defer { input.consume(start + length) }
    return understand(input, start..<start + length)
  }

  private mutating func understand(_ input: Input, _ text: Range<Int>) -> Reply {
    func place(_ pattern: String) -> Int? {
      input.find(Array(pattern.utf8), from: text.lowerBound, to: text.upperBound).map { $0 + pattern.utf8.count }
    }
    if !isOpen {
      isOpen = place("\"t\":\"h\"") != nil
      return isOpen ? .opened : .other
    }
    guard let answered = place("\"r\":"), input.number(at: answered, to: text.upperBound) == number else { return .other }
    guard place("\"s\":\"ok\"") != nil else { return .failed(String(decoding: input.slice(text), as: UTF8.self)) }
    return .done(
      balance: place("\"d\":").flatMap { _ in
        // The value of a get is the member `d` of the answer's body.
        place("\"b\":{").flatMap { body in input.find(Array("\"d\":".utf8), from: body, to: text.upperBound) }
          .flatMap { input.number(at: $0 + 4, to: text.upperBound) }
      })
  }
}
