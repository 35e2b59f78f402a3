/// The password hash bcrypt, for accounts that come from elsewhere; new passwords are not hashed with it.
enum Bcrypt {
  /// Below the first a hash is worth nothing, above the second one check takes seconds.
  static let costs = 4...15
  /// The text that is encrypted.
  private static let text: [UInt32] = [0x4F72_7068, 0x6561_6E42, 0x6568_6F6C, 0x6465_7253, 0x6372_7944, 0x6F75_6274]
  private static let alphabet = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// A hash as it is written, `$2b$10$` and 53 characters, taken apart.
  struct Parsed {
    let cost: Int
    let salt: [UInt8]
    let hash: [UInt8]

    /// Nil if it is no hash of the variants 2a, 2b and 2y, which mean the same for passwords in UTF-8 below 256 bytes.
    init?(_ bytes: [UInt8]) {
      guard bytes.count == 60, bytes.starts(with: "$2".utf8), "aby".utf8.contains(bytes[2]), bytes[3] == UInt8(ascii: "$"),
        bytes[6] == UInt8(ascii: "$"), let cost = Int(String(decoding: bytes[4..<6], as: UTF8.self)),
        Bcrypt.costs.contains(cost),
        let salt = Bcrypt.decode(bytes[7..<29], count: 16), let hash = Bcrypt.decode(bytes[29..<60], count: 23)
      else { return nil }
      self.cost = cost
      self.salt = salt
      self.hash = hash
    }
  }

  /// The 23 bytes of a hash.
  ///
  /// - Parameters:
  ///   - password: looked at up to 72 bytes, a zero byte at the end counted.
  ///   - salt: 16 bytes.
  ///   - cost: the binary logarithm of the rounds.
  static func hash(_ password: [UInt8], salt: [UInt8], cost: Int) -> [UInt8] {
    let key = words(password + [0], count: 18)
    let saltWords = words(salt, count: 4)
    // Four words, as the key's and the salt's plain schedule see them.
    let saltKey = words(salt, count: 18)
    let none: [UInt32] = [0, 0, 0, 0]
    var cipher = Blowfish()
    cipher.expand(key: key, salt: saltWords)
    for _ in 0..<(1 << cost) {
      cipher.expand(key: key, salt: none)
      cipher.expand(key: saltKey, salt: none)
    }
    var block = text
    for _ in 0..<64 {
      for index in stride(from: 0, to: 6, by: 2) {
        var (left, right) = (block[index], block[index + 1])
        cipher.encrypt(&left, &right)
        (block[index], block[index + 1]) = (left, right)
      }
    }
    return Array(block.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }.prefix(23))
  }

  /// Words of the bytes, which are repeated as often as needed.
  private static func words(_ bytes: [UInt8], count: Int) -> [UInt32] {
    (0..<count).map { word in (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[(word * 4 + $1) % bytes.count]) } }
  }

  /// Bytes of bcrypt's own base64.
  private static func decode(_ text: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    for character in text {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    return bytes.count >= count ? Array(bytes.prefix(count)) : nil
  }
}
