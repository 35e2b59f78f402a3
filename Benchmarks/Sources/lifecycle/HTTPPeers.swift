import Measuring

/// Doubloon over the Realtime Database's REST surface.
struct RESTPeer: Peer {
  var port: Int

  func opening() -> [UInt8] { [] }

  func request(_ turn: Turn) -> [UInt8] {
    let user = "/users/\(turn.player)"
    switch turn.step {
    case .create:
      let referred = turn.referrer.map { "\"referred_by\":\"\($0)\"," } ?? ""
      let body = "{\"name\":\"Player \(turn.player)\",\(referred)\"created_at\":\(turn.time)}"
      return HTTPText.request("PUT", "\(user).json", port: port, body: body)
    case .signIn:
      return HTTPText.request("PUT", "\(user)/last_signin_at.json", port: port, body: String(turn.time))
    case .ownBalance, .referrerBalance:
      return HTTPText.request("GET", "/users/\(turn.reads)/inventory/pieces_of_eight.json", port: port)
    default:
      return HTTPText.request("PUT", "\(user)/level.json", port: port, body: String(turn.step.level ?? 0))
    }
  }

  func reply(from input: inout Input) -> Reply? {
    HTTPText.reply(from: &input) { input, body in input.number(at: body.lowerBound, to: body.upperBound) }
  }
}

/// PocketBase: a record for each player in the collection `players`.
struct PocketBasePeer: Peer {
  var port: Int

  func opening() -> [UInt8] { [] }

  func request(_ turn: Turn) -> [UInt8] {
    let records = "/api/collections/players/records"
    switch turn.step {
    case .create:
      let referred = turn.referrer.map { ",\"referred_by\":\"\($0)\"" } ?? ""
      let body = "{\"id\":\"\(turn.player)\",\"name\":\"Player \(turn.player)\"\(referred)}"
      return HTTPText.request("POST", records, port: port, body: body)
    case .signIn:
      return HTTPText.request("PATCH", "\(records)/\(turn.player)", port: port, body: "{\"last_signin_at\":\(turn.time)}")
    case .ownBalance, .referrerBalance:
      return HTTPText.request("GET", "\(records)/\(turn.reads)", port: port)
    default:
      return HTTPText.request("PATCH", "\(records)/\(turn.player)", port: port, body: "{\"level\":\(turn.step.level ?? 0)}")
    }
  }

  func reply(from input: inout Input) -> Reply? {
    let member = Array("\"pieces_of_eight\":".utf8)
    return HTTPText.reply(from: &input) { input, body in
      input.find(member, from: body.lowerBound, to: body.upperBound).flatMap {
        input.number(at: $0 + member.count, to: body.upperBound)
      }
    }
  }
}

/// The little of HTTP/1.1 that both need: bodies of a known length, or none.
enum HTTPText {
  static func request(_ method: String, _ path: String, port: Int, body: String? = nil) -> [UInt8] {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
    if let body {
      text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    } else {
      text += "\r\n"
    }
    return Array(text.utf8)
  }

  static func reply(from input: inout Input, balance: (Input, Range<Int>) -> Int?) -> Reply? {
    guard let end = input.find([13, 10, 13, 10]) else { return nil }
    let head = String(decoding: input.slice(0..<end), as: UTF8.self).lowercased()
    let lines = head.split(whereSeparator: \.isNewline)
    let length = lines.first { $0.hasPrefix("content-length:") }.flatMap { line in
      Int(line.dropFirst("content-length:".count).drop { $0 == " " })
    }
    guard let length else {
      return .failed("an answer without a Content-Length, which this driver cannot read: \(head.prefix(200))")
    }
    let body = end + 4..<end + 4 + length
    guard input.count >= body.upperBound else { return nil }
    defer { input.consume(body.upperBound) }
    let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    guard (200..<300).contains(status) else {
      return .failed(String(decoding: input.slice(0..<min(body.upperBound, 400)), as: UTF8.self))
    }
    return .done(balance: balance(input, body))
  }
}
