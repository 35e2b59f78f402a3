import Crypto
import TreeModel

/// Proves that a link was opened: when, on which platform. Nothing has to be stored for it, so that opening a link costs no
/// write and a crash loses no proof.
///
/// 8 bytes of chance, 5 of time (seconds), 1 of platform, 12 of HMAC-SHA256 over these and the link. Whoever can open the
/// link can have one: it proves a click, not a person; what may be done with it, may be done once.
public struct ClickToken: Sendable, Hashable {
  /// Unique: the 8 bytes of chance, as hexadecimal digits.
  public let id: String
  /// In milliseconds since 1970, to the second.
  public let time: Int64
  /// Where the link was opened.
  public let platform: LinkPlatform

  private static let platforms: [LinkPlatform] = [.android, .desktop, .ios, .other]

  /// Makes one for a click that happens now.
  static func issue(
    for link: String, on platform: LinkPlatform, at time: Int64, key: SymmetricKey,
    using random: inout some RandomNumberGenerator
  ) -> String {
    var bytes = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
    let seconds = time / 1000
    for shift in stride(from: 32, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: seconds >> Int64(shift))) }
    bytes.append(UInt8(platforms.firstIndex(of: platform) ?? 3))
    return Base64.encode(bytes + seal(bytes, link, key), as: .url)
  }

  /// Reads one.
  ///
  /// - Returns: nil unless it was made for this link with this key.
  init?(_ text: String, for link: String, key: SymmetricKey) {
    guard text.utf8.count <= 64, let bytes = Base64.decode(Array(text.utf8)), bytes.count == 26 else { return nil }
    let content = Array(bytes[..<14])
    let difference = zip(Self.seal(content, link, key), bytes[14...]).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    guard difference == 0, Int(content[13]) < Self.platforms.count else { return nil }
    let digits = Array("0123456789abcdef".utf8)
    id = String(decoding: content[..<8].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    time = content[8..<13].reduce(Int64(0)) { $0 << 8 | Int64($1) } * 1000
    platform = Self.platforms[Int(content[13])]
  }

  private static func seal(_ bytes: [UInt8], _ link: String, _ key: SymmetricKey) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes + Array(link.utf8), using: key).prefix(12))
  }
}
