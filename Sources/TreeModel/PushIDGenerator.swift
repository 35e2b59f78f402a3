/// Makes push ids: 20 characters that sort by the time of their making (firebase-js-sdk, `core/util/NextPushId.ts`).
///
/// Eight characters hold the clock in milliseconds, twelve are random. Ids of one generator always ascend: within a
/// millisecond, and when the clock steps back, the random part counts up instead.
public struct PushIDGenerator: Sendable {
  /// The 64 digits, in ASCII order.
  private static let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  private var last: Int64 = -1
  /// Twelve digits of 0...63.
  private var tail = [UInt8](repeating: 0, count: 12)

  /// A generator that has made no id yet.
  public init() {}

  /// The next id, greater than all before.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - random: where the random part comes from.
  public mutating func next(now: Int64, random: inout some RandomNumberGenerator) -> String {
    if now > last {
      last = now
      drawTail(from: &random)
    } else if !countUp() {
      // 2^72 ids in a millisecond do not happen; a tail of all ones, drawn by chance, may.
      last += 1
      drawTail(from: &random)
    }
    var id: [UInt8] = []
    id.reserveCapacity(20)
    for shift in stride(from: 42, through: 0, by: -6) { id.append(Self.alphabet[Int(last >> Int64(shift)) & 63]) }
    for digit in tail { id.append(Self.alphabet[Int(digit)]) }
    return String(decoding: id, as: UTF8.self)
  }

  private mutating func drawTail(from random: inout some RandomNumberGenerator) {
    for i in tail.indices { tail[i] = UInt8.random(in: 0...63, using: &random) }
  }

  /// Adds one to the tail; false if there is no greater one.
  private mutating func countUp() -> Bool {
    guard let i = tail.lastIndex(where: { $0 < 63 }) else { return false }
    tail[i] += 1
    for j in tail.indices where j > i { tail[j] = 0 }
    return true
  }
}
