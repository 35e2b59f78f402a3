internal import Crypto
internal import TreeModel

/// One SHA-256 over what an erasure left in the payloads of the commits that it touched, oldest first.
///
/// The last commit of an erasure carries it as its request id, which the chain of hashes covers. So nobody can take the place
/// of an erasure later, or write something else into a payload that was opened once, without the log's audit seeing it.
public struct ErasureSeal {
  private var state = SHA256()
  /// The first commit of those that were touched; zero if none was.
  public private(set) var first = Revision.zero
  /// How many were touched.
  public private(set) var count: Int64 = 0

  /// The seal of an erasure that has touched nothing yet.
  public init() {
    state.update(data: Array("doubloon.erasure.1".utf8))
  }

  /// Adds the next commit. The caller sees to the order.
  public mutating func add(_ revision: Revision, _ part: ErasedPart) {
    if count == 0 { first = revision }
    count += 1
    var writer = ByteWriter(capacity: 64)
    writer.write(signed: revision.rawValue)
    writer.write(bytes: part.digest)
    state.update(data: writer.bytes)
  }

  /// What the last commit of the erasure that `order` began says.
  public func requestID(of order: Revision) -> String {
    "erasure/\(order)/\(first)/\(Self.hex(Array(state.finalize())))"
  }

  /// Who the last commit of an erasure is by; no client can be that.
  public static let actor = Actor.system("erasure")

  /// What a commit seals: the erasure, and the first commit that it touched; nil if it seals none.
  public static func sealed(by commit: CommitRecord) -> (order: Revision, first: Revision)? {
    guard commit.actor == actor, let parts = commit.requestID?.split(separator: "/"), parts.count == 4,
      parts[0] == "erasure", let order = Int64(parts[1]), let first = Int64(parts[2])
    else { return nil }
    return (Revision(order), Revision(first))
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
