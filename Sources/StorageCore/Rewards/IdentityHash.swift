internal import Crypto
import TreeModel

/// Keyed hashes of what tells persons and client networks apart: to know again whom nobody may read here any more.
///
/// The key is a secret of the server's, kept beside its signing keys: without it nobody can find out by trying whose hash it
/// is.
public struct IdentityHash: Sendable {
  /// How long a secret is, in bytes.
  public static let keyBytes = 32

  private let key: SymmetricKey

  /// - Parameter key: the secret.
  public init(key: [UInt8]) {
    self.key = SymmetricKey(data: key)
  }

  /// The identities of an account: its address as mail is delivered (in lower case, without a tag, of Gmail without dots), its
  /// number, and who it is at each provider.
  public func hashes(of account: AccountRecord) -> [String] {
    var identities: [String] = []
    for address in [account.email, account.initialEmail].compactMap(\.self) {
      identities.append("email/\(EmailAddress(address)?.deliveryIdentity ?? address)")
    }
    if let number = account.phoneNumber { identities.append("phone/\(number)") }
    identities += account.providers.map { "\($0.id)/\($0.rawID)" }
    return Set(identities).map(hash).sorted()
  }

  /// A client's network, as limits tell clients apart.
  public func network(_ address: String) -> String { String(hash("network/\(address)").prefix(24)) }

  /// A player, where it must be told whether one is the same as another.
  public func player(_ uid: String) -> String { String(hash("player/\(uid)").prefix(24)) }

  private func hash(_ text: String) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
