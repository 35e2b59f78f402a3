import Crypto
import StorageCore
import TreeModel

/// The key of a write (`k`): a client that lost the answer sends the write again under the same key, and gets the first answer.
///
/// The protocol itself has no such thing: a repeated increment counts twice. The greeting says that this server knows keys.
enum WriteKey {
  /// Characters of a key: those of 128 bits in hex, a dash and a number have 52 at most.
  static let lengthMax = 64
  /// How long a key is remembered, in milliseconds: 24 hours, as those of HTTP requests.
  private static let lifetime: Int64 = 86_400_000

  /// What the request's key asks for; nil without one.
  ///
  /// Keys are random numbers of 128 bits. They belong to no player: what was written before a sign-in is repeated after it.
  static func repetition(of request: SocketRequest) throws(SocketError) -> CommitRequest.Idempotency? {
    guard let member = request.body["k"] else { return nil }
    guard let key = member.string, (34...lengthMax).contains(key.utf8.count) else {
      throw .failure("The key of a write must be a string of 34 to \(lengthMax) characters.")
    }
    var writer = JSONWriter()
    let parts: [JSON] = ["p", "h", "d"].map { name in request.body[name] ?? .null }
    writer.write(.array([JSON.string(request.action)] + parts))
    return CommitRequest.Idempotency(
      key: "socket \(key)", requestDigest: Array(SHA256.hash(data: writer.bytes)), lifetime: lifetime
    ) { _ in [] }
  }
}
