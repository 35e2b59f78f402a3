import Measuring

/// PostgreSQL in its own protocol (version 3, prepared statements, text formats), with a connection that it trusts.
///
/// The table and its trigger are `beside.sql`'s. Source of the messages: the PostgreSQL manual, "Frontend/Backend Protocol".
struct PostgresPeer: Peer {
  private var waitsFor = 2
  private var balance: Int?
  private var failure: String?

  private static let statements = [
    ("create", "INSERT INTO users(uid, name, referred_by, created_at) VALUES ($1, $2, $3, $4::bigint)"),
    ("signin", "UPDATE users SET last_signin_at = $2::bigint WHERE uid = $1"),
    ("level", "UPDATE users SET level = $2::int WHERE uid = $1"),
    ("balance", "SELECT pieces_of_eight FROM users WHERE uid = $1"),
  ]

  func opening() -> [UInt8] {
    let parameters = "user\0postgres\0database\0postgres\0\0"
    var bytes = Self.int32(8 + parameters.utf8.count) + Self.int32(196_608) + Array(parameters.utf8)
    for (name, text) in Self.statements {
      bytes += Self.message("P", Array("\(name)\0\(text)\0".utf8) + [0, 0])
    }
    return bytes + Self.message("S", [])
  }

  mutating func request(_ turn: Turn) -> [UInt8] {
    (waitsFor, balance, failure) = (1, nil, nil)
    switch turn.step {
    case .create:
      return Self.run("create", [turn.player, "Player \(turn.player)", turn.referrer, String(turn.time)])
    case .signIn: return Self.run("signin", [turn.player, String(turn.time)])
    case .ownBalance, .referrerBalance: return Self.run("balance", [turn.reads])
    default: return Self.run("level", [turn.player, String(turn.step.level ?? 0)])
    }
  }

  mutating func reply(from input: inout Input) -> Reply? {
    guard input.count >= 5 else { return nil }
    let length = input.int32(at: 1) + 1
    guard input.count >= length else { return nil }
    defer { input.consume(length) }
    switch input[0] {
    case UInt8(ascii: "R"):
      return input.int32(at: 5) == 0 ? .other : .failed("PostgreSQL asks for a password; this driver has none")
    case UInt8(ascii: "E"): failure = String(decoding: input.slice(5..<length), as: UTF8.self)
    case UInt8(ascii: "D"): balance = input.number(at: 11, to: length)
    case UInt8(ascii: "Z"):
      waitsFor -= 1
      if let failure { return .failed(failure) }
      if waitsFor == 0 { return balance == nil && !isReady ? opened() : .done(balance: balance) }
    default: break
    }
    return .other
  }

  private var isReady = false

  private mutating func opened() -> Reply {
    isReady = true
    return .opened
  }

  /// Bind, Execute and Sync of a prepared statement.
  private static func run(_ statement: String, _ values: [String?]) -> [UInt8] {
    var bind: [UInt8] = [0] + Array("\(statement)\0".utf8) + [0, 0, 0, UInt8(values.count)]
    for value in values {
      guard let value else {
        bind += [255, 255, 255, 255]
        continue
      }
      bind += int32(value.utf8.count) + Array(value.utf8)
    }
    return message("B", bind + [0, 0]) + message("E", [0, 0, 0, 0, 0]) + message("S", [])
  }

  private static func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
    [kind.asciiValue ?? 0] + int32(body.count + 4) + body
  }

  private static func int32(_ value: Int) -> [UInt8] {
    [UInt8(value >> 24 & 255), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }
}
