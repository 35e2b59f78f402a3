import ClientLink
import ClientRuntime
import Dispatch
import SyncModel
import TreeModel

/// What a database keeps on disk: pending writes and what the server said, each player's apart.
///
/// Two journals: one of writes, which are never given up, and one of data, which is fetched again when it is lost. A file that
/// cannot be used turns the keeping off, with a line in the log; the app goes on in memory.
final class DatabaseStore {
  private let folder: String
  private let cacheBytesMax: Int
  private let log: ClientLog
  private var writes: Journal?
  private var cache: Journal?
  /// Which records of the writes' journal are pending, in their order.
  private var pending: [WriteID: (key: String, record: [UInt8])] = [:]
  private var nodes: [ListenSpec: Kept] = [:]
  private var clock = 0
  /// How long to wait before data is saved again, in milliseconds: a megabyte a second at most, for each change writes its
  /// whole window.
  private(set) var pause: Int64 = 200

  private struct Kept {
    var node: TreeNode
    var bytes: Int
    var lastUse: Int
  }

  /// - `folder`: this database's, of one server and one namespace.
  init(folder: String, cacheBytesMax: Int, log: ClientLog) {
    self.folder = folder
    self.cacheBytesMax = cacheBytesMax
    self.log = log
  }

  // MARK: Whose

  /// Opens the player's files, and writes again what was pending.
  ///
  /// - `carries`: whether what is pending becomes this player's: it was written before anybody signed in.
  func playerChanged(to uid: String?, carries: Bool, core: DatabaseCore) {
    let carried = carries ? pending : [:]
    let former = carried.isEmpty ? nil : writes
    writes = nil
    cache = nil
    pending = carried
    nodes = [:]
    let name = Self.fileName(uid)
    do {
      let opened = try Journal.open("\(folder)/\(name).writes")
      writes = opened.journal
      if opened.bytesCut > 0 {
        log(.error, "The end of \(opened.journal.path) is damaged: \(opened.bytesCut) bytes were cut off.")
      }
      openCache(name)
      restore(opened.records, core: core)
      // Only now: what is in two files is sent once all the same, by its key; what is in none would be lost.
      if writes != nil { _ = try former?.replace(with: []) }
    } catch {
      turnOff(error)
    }
  }

  /// Lets go of the player's files: what is pending in them stays.
  func close() {
    writes = nil
    cache = nil
    pending = [:]
  }

  private func openCache(_ name: String) {
    do {
      let opened = try Journal.open("\(folder)/\(name).cache")
      cache = opened.journal
      if opened.bytesCut > 0 { log(.warning, "The data kept on disk was damaged; it is fetched again where it is missing.") }
      for record in opened.records {
        guard let (listened, node) = Self.entry(record) else { continue }
        nodes[listened] = node.map { Kept(node: $0, bytes: record.count, lastUse: 0) }
      }
    } catch {
      turnOff(error)
    }
  }

  private func turnOff(_ failure: Journal.Failure) {
    log(.error, "\(failure.description) Nothing is kept on disk until the app starts again.")
    writes = nil
    cache = nil
  }

  private static func fileName(_ uid: String?) -> String {
    guard let uid else { return "nobody" }
    return "player-"
      + uid.utf8.map { byte in
        let hex = String(byte, radix: 16)
        return hex.utf8.count == 1 ? "0\(hex)" : hex
      }.joined()
  }

  // MARK: Writes

  private func restore(_ records: [[UInt8]], core: DatabaseCore) {
    var open: [(key: String, operation: WriteOperation)] = []
    var ended: Set<String> = []
    for record in records {
      guard let json = try? JSONParser.parse(record, depthMax: 128), let key = json["k"]?.string else { continue }
      if let operation = json["w"].flatMap({ WriteOperation(record: $0) }) {
        open.append((key, operation))
      } else {
        ended.insert(key)
      }
    }
    open.removeAll { ended.contains($0.key) }
    for (key, operation) in open {
      let id = core.session.restore(operation, key: key, at: core.now)
      pending[id] = (key, Self.record(operation, key: key))
    }
    compactWrites()
  }

  /// Keeps a write, before it is sent.
  func keep(_ write: PendingWrite, key: String, core: DatabaseCore) {
    guard pending[write.id] == nil, writes != nil else { return }
    let record = Self.record(write.operation, key: key)
    pending[write.id] = (key, record)
    append(record)
  }

  /// The server answered a write.
  func forget(_ id: WriteID, core: DatabaseCore) {
    guard let key = pending.removeValue(forKey: id)?.key else { return }
    let end: JSON = ["k": .string(key)]
    append(Array(end.compactText.utf8))
    if let size = writes?.size, size > 1 << 20, pending.count < 100 { compactWrites() }
  }

  private func append(_ record: [UInt8]) {
    do {
      try writes?.append(record)
    } catch {
      turnOff(error)
    }
  }

  private func compactWrites() {
    do {
      let records = pending.sorted { $0.key < $1.key }.map(\.value.record)
      writes = try writes?.replace(with: records)
    } catch {
      turnOff(error)
    }
  }

  private static func record(_ operation: WriteOperation, key: String) -> [UInt8] {
    let json: JSON = ["k": .string(key), "w": operation.record]
    return Array(json.compactText.utf8)
  }

  // MARK: Data

  /// What is on disk of a window.
  func node(_ listened: ListenSpec, core: DatabaseCore) -> TreeNode? {
    let wire = listened.wire
    if let kept = nodes[wire] {
      clock += 1
      nodes[wire]?.lastUse = clock
      return listened.shown(of: kept.node)
    }
    for (other, kept) in nodes where !other.isFiltered && other.path.contains(listened.path) {
      return listened.shown(of: kept.node[listened.path.relative(to: other.path)])
    }
    return nil
  }

  /// Shows the session what is on disk of a window that begins to be listened to.
  func recall(_ listened: ListenSpec, core: DatabaseCore) {
    guard !listened.isLocal, core.session.tree.serverValue(listened) == nil, let node = node(listened, core: core) else {
      return
    }
    core.session.tree.recall(listened, node: node)
  }

  /// Keeps what the server has of all windows that are listened to. Called when the database has been quiet for a moment.
  func save(core: DatabaseCore) {
    guard let cache else { return }
    let before = cache.size
    do {
      for (listened, node) in core.session.tree.serverNodes where nodes[listened]?.node != node {
        let record = Self.record(listened, node: node)
        // What no record can hold is not kept; that is no reason to keep nothing else, writes least of all.
        guard record.count <= Journal.recordBytesMax else { continue }
        clock += 1
        nodes[listened] = Kept(node: node, bytes: record.count, lastUse: clock)
        try cache.append(record)
      }
      pause = max(200, Int64(cache.size - before) / 1000)
      try prune(keeping: Set(core.session.tree.serverNodes.map(\.listened)))
    } catch {
      turnOff(error)
    }
  }

  /// Gives up what was not used for longest, while it is too much; then writes the file once more.
  private func prune(keeping used: Set<ListenSpec>) throws(Journal.Failure) {
    guard let cache, cache.size > UInt64(cacheBytesMax) else { return }
    var total = nodes.values.reduce(0) { $0 + $1.bytes }
    for (listened, kept) in nodes.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where total > cacheBytesMax * 4 / 5 {
      if used.contains(listened) { continue }
      nodes[listened] = nil
      total -= kept.bytes
    }
    self.cache = try cache.replace(with: nodes.map { Self.record($0.key, node: $0.value.node) })
  }

  private static func record(_ listened: ListenSpec, node: TreeNode) -> [UInt8] {
    let json: JSON = [
      "p": .string(listened.path.description), "q": listened.query.wire, "d": node.jsonValue(.export),
    ]
    return Array(json.compactText.utf8)
  }

  private static func entry(_ record: [UInt8]) -> (ListenSpec, TreeNode?)? {
    guard let json = try? JSONParser.parse(record, depthMax: 128),
      let path = json["p"]?.string.flatMap({ try? Path(parsing: $0) }),
      let query = json["q"].flatMap({ try? Query(wire: $0) }),
      let node = try? TreeNode(json: json["d"] ?? .null, depth: path.depth)
    else { return nil }
    return (ListenSpec(path: path, query: query), node)
  }
}

extension DatabaseCore {
  /// Keeps data and pending writes on disk from now on. Called before the first use.
  func openStore(cacheBytesMax: Int) {
    guard let folder = environment.storageFolder else {
      return environment.log(.error, "There is no folder to keep data in: set FirebaseOptions.storageFolder.")
    }
    let place = "\(environment.server.authority)-\(environment.namespace)".utf8.map { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        ? String(Unicode.Scalar(byte)) : "_"
    }.joined()
    post { core in
      core.store = DatabaseStore(folder: "\(folder)/database/\(place)", cacheBytesMax: cacheBytesMax, log: core.environment.log)
      if core.environment.tokens == nil || core.isPlayerKnown {
        core.store?.playerChanged(to: core.uid, carries: true, core: core)
      }
    }
  }
}
