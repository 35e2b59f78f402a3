import Crypto

/// What an authenticator and the server share, and the codes that both make of it: six digits for every thirty seconds
/// (RFC 6238 with HMAC-SHA-1, which is what authenticators know).
package struct AuthenticatorSecret: Sendable, Hashable {
  /// How many random bytes a new one has: as many as the hash (RFC 4226 §4).
  private static let size = 20
  /// How many digits a code has.
  package static let digits = 6
  /// For how many seconds a code is the current one.
  package static let period: Int64 = 30
  /// The hash, as clients name it.
  package static let algorithm = "SHA1"

  /// The secret itself.
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// A new one.
  package init(using random: inout some RandomNumberGenerator) {
    bytes = (0..<Self.size).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Reads ``text``; nil if it is no Base32, or too short to be a secret (RFC 4226 §4: 16 bytes).
  package init?(text: String) {
    guard let bytes = Base32.decode(text), (16...64).contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// As a player types it into an authenticator.
  package var text: String { Base32.encode(bytes) }

  /// The code of a step.
  ///
  /// - Parameter step: how many periods have passed since 1970.
  package func code(at step: Int64) -> String {
    let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> Int64(56 - 8 * $0)) }
    let hash = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: bytes)))
    let offset = Int(hash[hash.count - 1] & 15)
    let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    let text = String(number % 1_000_000)
    return String(repeating: "0", count: Self.digits - text.utf8.count) + text
  }

  /// The step that a code belongs to, of those around a time; nil if it belongs to none, or to one that is used up.
  ///
  /// - `now`: milliseconds since 1970.
  /// - `adjacent`: by how many steps the clock of the authenticator may be wrong.
  /// - `last`: the last step whose code was used; only later ones are good.
  package func step(of code: String, at now: Int64, adjacent: Int, after last: Int64) -> Int64? {
    let current = now / 1000 / Self.period
    let given = Array(code.utf8)
    var found: Int64?
    // Every one is looked at, whichever it was: the time that this takes says nothing.
    for step in (current - Int64(adjacent))...(current + Int64(adjacent)) {
      let isRight = SecretComparison.areEqual(Array(self.code(at: step).utf8), right: given)
      if isRight, step > last, found == nil { found = step }
    }
    return found
  }
}

/// Base32 as authenticators read secrets (RFC 4648 §6), written without padding.
enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[Int(bits >> UInt32(count) & 31)])
      }
      bits &= 1 << UInt32(count) - 1
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Padding and lower case are taken too; nil for anything else that is not of the alphabet.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    var letters = text.uppercased().utf8[...]
    while letters.last == UInt8(ascii: "=") { letters.removeLast() }
    for letter in letters {
      guard let value = alphabet.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= 1 << UInt32(count) - 1
      }
    }
    return bytes
  }
}
