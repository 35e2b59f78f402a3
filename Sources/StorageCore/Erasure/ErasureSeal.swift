internal import Crypto
internal import TextFormats
public import TreeModel

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
    "erasure/\(order)/\(first)/\(Hex.encode(state.finalize()))"
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
}

/// What was erased, for those who look into the past.
extension Snapshot {
  /// The erasure of a player; nil if there was none.
  public func erasure(in namespace: NamespaceID, of uid: String) throws(StorageError) -> ErasureRecord? {
    try record(in: namespace, kind: ErasureRecord.kind, key: uid).flatMap { ErasureRecord(uid: uid, value: $0) }
  }

  /// Erasures by uid, after the one given.
  public func erasures(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [ErasureRecord] {
    try records(in: namespace, kind: ErasureRecord.kind, after: uid, isDescending: false, limit: limit)
      .compactMap { ErasureRecord(uid: $0.key, value: $0.value) }
  }

  /// The erased place that a path lies in, if what was there at a revision is not known any more.
  public func erasedPath(in namespace: NamespaceID, around path: Path, asOf revision: Revision) throws(StorageError)
    -> ErasedPath?
  {
    var found: ErasedPath?
    for depth in stride(from: path.depth, to: 0, by: -1) {
      let key = Path(keys: Array(path.keys[..<depth])).description
      guard let value = try record(in: namespace, kind: ErasedPath.kind, key: key),
        let erasedPath = ErasedPath(KeyedRecord(kind: ErasedPath.kind, key: key, value: value)), erasedPath.through >= revision
      else { continue }
      if found.map({ $0.through < erasedPath.through }) ?? true { found = erasedPath }
    }
    return found
  }

  /// The erased places below a path of which something is missing at a revision, by path, at most `limit`.
  public func erasedPaths(in namespace: NamespaceID, below path: Path, asOf revision: Revision, limit: Int)
    throws(StorageError) -> [ErasedPath]
  {
    let prefix = path.keys.isEmpty ? "/" : path.description + "/"
    var found: [ErasedPath] = []
    var last = prefix
    while true {
      let page = try records(in: namespace, kind: ErasedPath.kind, after: last, isDescending: false, limit: 500)
      for record in page {
        guard record.key.utf8.starts(with: prefix.utf8) else { return found }
        last = record.key
        guard let erasedPath = ErasedPath(record), erasedPath.path.isAccounts == path.isAccounts, erasedPath.through >= revision
        else {
          continue
        }
        found.append(erasedPath)
        if found.count == limit { return found }
      }
      if page.count < 500 { return found }
    }
  }
}
