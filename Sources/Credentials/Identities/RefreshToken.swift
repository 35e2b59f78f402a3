import Crypto
import TreeModel

/// A refresh token: a secret without content. The server keeps its hash; who reads the database cannot use it.
public struct RefreshToken: Sendable, Hashable {
  /// How many random bytes it is made of.
  private static let size = 32

  /// What the client keeps: 43 characters.
  public let text: String

  /// A new one.
  public init(using random: inout some RandomNumberGenerator) {
    text = Base64.encode((0..<Self.size).map { _ in UInt8.random(in: 0...255, using: &random) }, as: .url)
  }

  /// One that a client sent; nil if it cannot be one (`INVALID_REFRESH_TOKEN`).
  public init?(_ text: String) {
    guard text.utf8.count == 43, Base64.decode(text.utf8)?.count == Self.size else { return nil }
    self.text = text
  }

  /// What is stored: SHA-256 of the text, 32 bytes. Plain, for what is hashed is 256 bits of chance.
  public var hash: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
