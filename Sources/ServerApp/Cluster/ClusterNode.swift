import Glibc
import HTTPServer
import Logging
import ServerConfiguration
import StorageCore
import StoragePostgres
import StorageSQLite
import Synchronization
import Triggers

/// This process as one of several nodes of a store in PostgreSQL: it follows, and leads when nobody does.
///
/// One node leads in each term. The others keep their copies up to date, hand clients on to it, and one of them leads when it gives
/// the lease back or is not heard of any more.
final class ClusterNode: Sendable {
  /// How often a node that follows looks for batches and at the lease, in microseconds.
  private static let interval: UInt32 = 100_000

  private let configuration: ServerConfiguration
  private let settings: ClusterSettings
  private let cell: PostgresCell
  private let folder: String
  private let name: String
  private let logger: Logger
  private let heartbeat: Heartbeat
  private let leader = Mutex<String?>(nil)
  /// Where the copy stood when it was looked at last, and when that was.
  private let copy = Mutex<(batch: Int64, time: Int64)?>(nil)
  private let hasLed = Atomic<Bool>(false)
  /// What all nodes of this store have in common.
  private let secret = Mutex<[UInt8]?>(nil)
  /// Answers reads that may be a little old; nil where none are answered.
  let staleReads: StaleReads?
  /// What it checks tokens with; the follower's thread keeps them fresh.
  private let keys: Mutex<FollowedKeys?>

  /// Joins the nodes of a store.
  ///
  /// - `folder`: the node's data folder, where its working copy is.
  /// - Throws: `StorageError` if PostgreSQL's library is missing, or the folder cannot be made.
  init(_ settings: ClusterSettings, folder: String, configuration: ServerConfiguration, logger: Logger) throws {
    self.configuration = configuration
    self.settings = settings
    cell = PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: settings.allowsSingle)
    self.folder = folder
    self.logger = logger
    name = try NodeName.load(from: folder)
    heartbeat = Heartbeat(
      node: name, address: settings.address ?? "", version: configuration.build.version, logger: logger)
    if let address = settings.staleReads {
      let followed = try FollowedKeys(settings, cell: cell, folder: folder)
      keys = Mutex(followed)
      staleReads = try StaleReads(at: address, configuration, keys: followed.keys, logger: logger)
    } else {
      keys = Mutex(nil)
      staleReads = nil
    }
    heartbeat.start(try PostgresLease(cell, node: name))
  }

  /// What the nodes seal the connections with that they hand on; nil before the lease was seen.
  var seal: ConnectionSeal? {
    secret.withLock(\.self).map { ConnectionSeal(secret: $0 + (settings.sealingKey ?? [])) }
  }

  /// Where clients are handed on to while this node follows, as `host:port`; nil where no other node leads.
  var leaderAddress: String? { leader.withLock(\.self) }

  /// What this node knows of itself while it follows.
  var sight: StandbyMetrics.Sight {
    let seen = copy.withLock(\.self)
    return StandbyMetrics.Sight(
      batch: seen?.batch, age: seen.map { max(0, MonotonicTime.now() - $0.time) }, leader: leaderAddress,
      reads: staleReads?.source.answers)
  }

  /// Ends what shows that this node lives.
  func stop() { heartbeat.stop() }

  /// Follows until this node leads.
  ///
  /// - `end`: that the process was told to end.
  /// - `leaderChanged`: called when the node that led does not any more.
  /// - Returns: the term; nil if the process was told to end before.
  func waitToLead(until end: EndSignal, leaderChanged: @escaping @Sendable () -> Void) async throws -> ClusterTerm? {
    try await withCheckedThrowingContinuation { continuation in
      BlockingThread { [self] in
        continuation.resume(with: Result { try follow(until: end, leaderChanged: leaderChanged) })
      }.detach()
    }
  }

  private func follow(until end: EndSignal, leaderChanged: () -> Void) throws -> ClusterTerm? {
    let lease = try PostgresLease(cell, node: name)
    let archive = PostgresArchive(beside: lease, random: SystemRandomNumberGenerator())
    let follower = CopyFollower(
      folder: folder, archive: archive, schema: configuration.schema, watcher: staleReads, logger: logger)
    defer { follower.close() }
    var (trouble, hasNotes, hasFollowed): (String?, Bool, Bool) = (nil, true, hasLed.load(ordering: .relaxed))
    var beats = BeatWatch()
    while !end.isGiven {
      do throws(StorageError) {
        if !hasFollowed { try lease.throwIfUnsafe() }
        if hasNotes, try lease.look() != nil { hasNotes = try !leaveNotes(archive) }
        let before = leaderAddress
        if let term = try step(lease, follower, &beats) {
          hasLed.store(true, ordering: .relaxed)
          return term
        }
        hasFollowed = true
        if let before, before != leaderAddress { leaderChanged() }
        if trouble != nil { logger.notice("this node goes on") }
        trouble = nil
      } catch {
        // The next connection may lead to another server.
        beats = BeatWatch()
        switch error.code {
        case .damaged: break
        // What is wrong at the start is told, and ends it; later a node waits, for a server that answers, for room on its disk, for
        // a person. A newer schema is for a newer program.
        case .newerSchema, .unsuitable: throw error
        default:
          guard hasFollowed || error.code == .lost || error.code == .full else { throw error }
          if trouble != error.message { logger.warning("this node waits", metadata: ["reason": "\(error.message)"]) }
          trouble = error.message
        }
      }
      usleep(Self.interval)
    }
    return nil
  }

  /// Leaves what the last process here has noted of runs that were under way to the node that leads next.
  private func leaveNotes(_ archive: PostgresArchive) throws(StorageError) -> Bool {
    let file = Shard.crashNotes(in: folder)
    try archive.leave(try file.notes())
    try file.clear()
    return true
  }

  /// Looks once; returns the term that begins.
  private func step(_ lease: PostgresLease, _ follower: CopyFollower, _ beats: inout BeatWatch) throws(StorageError)
    -> ClusterTerm?
  {
    let looked = MonotonicTime.now()
    guard let view = try lease.look() else {
      try lease.throwIfUnsafe()
      try follower.create()
      return nil
    }
    secret.withLock { $0 = view.secret }
    leader.withLock { $0 = view.isClean || view.node == name || view.address.isEmpty ? nil : view.address }
    beats.see(fence: view.fence, beat: view.beat, askedAt: looked)
    keys.withLock { $0?.refresh(from: follower.archive, at: looked, logger: logger) }
    let asked = MonotonicTime.now()
    let position = try follower.catchUp()
    copy.withLock { $0 = (position.batch, asked) }
    // Whose tokens nobody could check is not shown anything.
    if let proven = beats.provenAt, keys.withLock({ $0?.areKnown != false }) {
      staleReads?.didCompare(at: min(asked, proven))
    }
    guard lease.mayTake(view) else { return nil }
    try lease.throwIfUnsafe()
    guard let taken = try lease.take(view, address: settings.address ?? "") else { return nil }
    logger.notice("this node leads", metadata: ["term": "\(taken.fence)", "batch": "\(taken.batch)", "after": "\(view.node)"])
    leader.withLock { $0 = nil }
    do {
      return try begin(taken, lease, follower)
    } catch {
      // Who cannot lead does not hold the lease: another may, at once.
      try? lease.release(fence: taken.fence)
      if error.code == .damaged {
        // Following has not found it, and would not the next time.
        logger.warning(
          "this node cannot lead with its working copy, which is made again", metadata: ["reason": "\(error.message)"])
        follower.close()
        try? WorkingCopy.discard(in: folder)
      }
      throw error
    }
  }

  /// The term of a lease that was taken; nil if it is another's by now.
  private func begin(_ taken: JournalPosition, _ lease: PostgresLease, _ follower: CopyFollower) throws(StorageError)
    -> ClusterTerm?
  {
    let position = try follower.catchUp()
    guard position.batch == taken.batch else {
      throw StorageError(.damaged, "The log in PostgreSQL ends with batch \(position.batch), the lease with \(taken.batch).")
    }
    let (hash, schema) = try follower.handOver()
    let journal = try PostgresJournal(cell, fence: taken.fence, hash: hash)
    heartbeat.tell(journal)
    let sent = MonotonicTime.now()
    guard try lease.beat(address: settings.address ?? "", version: configuration.build.version).fence == taken.fence else {
      return nil
    }
    journal.noteBeat(sentAt: sent)
    return try ClusterTerm(
      ClusterTerm.Beginning(
        journal: journal, lastBatch: taken.batch, schema: schema, time: configuration.clock.now()), cell: cell, folder: folder,
      name: name, schema: configuration.schema, sealingKey: settings.sealingKey, heartbeat: heartbeat, logger: logger)
  }
}

/// What a node is called: made up once, and kept in its data folder. A folder has one process at a time, so no two have the same.
enum NodeName {
  private static let file = "node"

  static func load(from folder: String) throws -> String {
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw StorageError(.failed, "\(folder) cannot be made: \(String(cString: strerror(errno))).")
    }
    let path = "\(folder)/\(file)"
    if FileBytes.exists(path) {
      let name = String(decoding: try FileBytes.read(path), as: UTF8.self).filter { !$0.isWhitespace }
      if !name.isEmpty { return name }
    }
    var host = [CChar](repeating: 0, count: 64)
    gethostname(&host, 63)
    let machine = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let name = "\(machine)-\(String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16))"
    try FileBytes.writeSecret(Array(name.utf8), to: path)
    return name
  }
}
