import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// Reads the tree for one run: as of its event's commit, just before it, and as it is now.
protocol RunReader: FunctionReader {
  var namespace: NamespaceID { get }
  /// The most leaves that one read may return.
  var leavesMax: Int { get }
  /// By which identities of players who left are known; nil where that is off.
  var identities: IdentityHash? { get }
  /// The time of the run.
  var now: Int64 { get }
  /// Looks at the state as it is now.
  func look<Result>(_ body: (any StorageReading & AccountReading) throws(StorageError) -> Result) throws -> Result
}

extension RunReader {
  func hasAccount(_ uid: String) throws -> Bool {
    try look { (state) throws(StorageError) in try state.account(in: namespace, uid: uid) != nil }
  }

  /// Whether a business key was used, by now.
  func isPaid(_ key: String) throws -> Bool { try entry(key) != nil }

  /// The entry of a business key, as of now.
  func entry(_ key: String) throws -> LedgerEntry? {
    try look { (state) throws(StorageError) in try state.entry(in: namespace, key: BusinessKey(key)) }
  }

  func record(_ kind: String, _ key: String) throws -> String? {
    try look { (state) throws(StorageError) in try state.record(in: namespace, kind: kind, key: key) }
  }

  func wasPaid(_ player: String, _ code: String) throws -> Bool {
    guard let identities else { return false }
    let own = identities.player(player)
    return try look { (state) throws(StorageError) -> Bool in
      let hashes: [String]
      if let account = try state.account(in: namespace, uid: player) {
        hashes = identities.hashes(of: account)
      } else {
        let stored = try state.record(in: namespace, kind: FormerIdentities.kind, key: player)
        hashes = stored.flatMap { FormerIdentities(stored: $0) }?.hashes ?? []
      }
      for hash in hashes {
        guard let stored = try state.record(in: namespace, kind: PaidRewards.identityKind, key: hash) else { continue }
        if PaidRewards(stored: stored).isPaid(code, beside: own, at: now) { return true }
      }
      return false
    }
  }

  func latestNode(_ path: Path) throws -> TreeNode {
    let place = PathBytes(path)
    let leaves = try look { (state) throws(StorageError) in
      try state.leaves(in: namespace, under: place, limit: leavesMax + 1)
    }
    return try node(leaves, at: path, place)
  }

  /// The node that these leaves make.
  func node(_ leaves: [StoredLeaf], at path: Path, _ place: PathBytes) throws -> TreeNode {
    guard leaves.count <= leavesMax else {
      throw PermanentError("\(path) holds more than \(leavesMax) leaves; read a smaller part of the tree.")
    }
    guard let node = TreeNode(leaves: leaves.lazy.map(\.leaf), at: place) else {
      throw StorageError(.damaged, "A stored path below \(path) cannot be read; verify the data, or restore a backup.")
    }
    return node
  }
}

/// Reads from the store's snapshots, on a thread of the dispatcher's.
///
/// Reads ahead of the disk: an event's commit is durable before its run begins, and what a run makes of the latest value is
/// committed behind the batch that it saw.
struct SnapshotRunReader: RunReader {
  let engine: any StorageEngine
  let namespace: NamespaceID
  /// The event's commit.
  let revision: Revision
  let leavesMax: Int
  let identities: IdentityHash?
  let now: Int64

  func nodeAtEvent(_ path: Path) throws -> TreeNode { try node(path, asOf: revision) }
  func nodeBeforeEvent(_ path: Path) throws -> TreeNode { try node(path, asOf: revision.previous) }

  func existsAtEvent(_ path: Path) throws -> Bool {
    let place = PathBytes(path)
    return try engine.readAhead { (snapshot) throws(StorageError) in
      try !snapshot.leaves(in: namespace, under: place, asOf: revision, limit: 1).isEmpty
    }.result
  }

  func exists(_ path: Path, at time: Int64) throws -> Bool {
    let place = PathBytes(path)
    return try engine.readAhead { (snapshot) throws(StorageError) in
      let then = min(try snapshot.revision(in: namespace, at: time), revision)
      return try !snapshot.leaves(in: namespace, under: place, asOf: then, limit: 1).isEmpty
    }.result
  }

  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)] {
    let found = try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.records(in: namespace, kind: kind, after: start, isDescending: false, limit: 1000)
    }.result
    return found.prefix { $0.key.utf8.starts(with: start.utf8) }.map { ($0.key, $0.value) }
  }

  func look<Result>(_ body: (any StorageReading & AccountReading) throws(StorageError) -> Result) throws -> Result {
    try engine.readAhead { (snapshot) throws(StorageError) in try body(snapshot) }.result
  }

  private func node(_ path: Path, asOf revision: Revision) throws -> TreeNode {
    let place = PathBytes(path)
    let (leaves, _) = try engine.readAhead { (snapshot) throws(StorageError) in
      try snapshot.leaves(in: namespace, under: place, asOf: revision, limit: leavesMax + 1)
    }
    return try node(leaves, at: path, place)
  }
}
