import Glibc
import Logging
import StorageCore
import StoragePostgres
import Synchronization

/// Shows once a second that this node lives, on a thread of its own, tells the term that it leads how long that holds, and looks for
/// the other nodes' signs of life.
final class Heartbeat: Sendable {
  /// Beats between two looks at whether the server is still kept on more than one machine.
  private static let beatsBetweenLooks = 10

  private let term = Mutex<(journal: PostgresJournal, wanted: String?)?>(nil)
  private let isStopped = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)
  private let sights = Mutex<[NodeSight]>([])
  private let node: String
  private let address: String
  private let version: String
  private let logger: Logger

  /// - `node`: this node's name.
  /// - `address`: where this node is reached, as `host:port`.
  /// - `version`: the program's.
  init(node: String, address: String, version: String, logger: Logger) {
    self.node = node
    self.address = address
    self.version = version
    self.logger = logger
  }

  /// Tells this term of answered beats from now on; nil: none.
  func tell(_ journal: PostgresJournal?) { term.withLock { $0 = journal.map { ($0, nil) } } }

  /// Which other node is to lead next, as of the term's last beat; nil where nobody asked for one.
  var successor: String? { term.withLock { $0?.wanted == node ? nil : $0?.wanted } }

  /// All nodes, as seen every ten seconds; empty before the first look.
  var nodes: [NodeSight] { sights.withLock(\.self) }

  /// Ends it, and takes the node from the list of those that are looked after; where PostgreSQL does not answer in two seconds, it
  /// stays there as silent.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    let end = MonotonicTime.now() + 2000
    while !hasEnded.load(ordering: .relaxed), MonotonicTime.now() < end { usleep(10_000) }
  }

  /// Begins to beat.
  ///
  /// - Parameter lease: used by the thread alone from now on.
  func start(_ lease: sending PostgresLease) {
    let carrier = UnsafeCarrier(lease)
    BlockingThread { [self] in run(carrier.value) }.detach()
  }

  private func run(_ lease: PostgresLease) {
    var (beats, watch) = (0, NodeWatch())
    while !isStopped.load(ordering: .relaxed) {
      let start = MonotonicTime.now()
      // A store that is made just now has no list at the first beat.
      let looks = beats % Self.beatsBetweenLooks == 0 || nodes.isEmpty
      beat(lease, looks: looks)
      if looks, let shown = try? lease.nodes() {
        let seen = watch.see(shown, at: start)
        sights.withLock { $0 = seen }
      }
      beats += 1
      while !isStopped.load(ordering: .relaxed), MonotonicTime.now() - start < PostgresLease.beatInterval { usleep(20_000) }
    }
    _ = try? lease.forget(node)
    hasEnded.store(true, ordering: .relaxed)
  }

  private func beat(_ lease: PostgresLease, looks: Bool) {
    let sent = MonotonicTime.now()
    // The term that the beat is sent for: one that begins meanwhile has another fence than the answer tells.
    let journal = term.withLock { $0?.journal }
    guard let answer = try? lease.beat(address: address, version: version), let journal else { return }
    guard answer.fence == journal.fence else { return journal.end("another node leads by now") }
    journal.noteBeat(sentAt: sent)
    term.withLock { if $0?.journal === journal { $0?.wanted = answer.wanted } }
    guard looks else { return }
    do throws(StorageError) {
      try lease.throwIfUnsafe()
    } catch {
      // What is not known now is looked at again.
      guard error.code == .failed else { return }
      logger.error("this node does not lead any more", metadata: ["reason": "\(error.message)"])
      journal.end(error.message)
    }
  }
}

/// Carries a value to the one thread that will use it.
///
/// `@unchecked Sendable`: who made it gives it away, and the start of the thread orders the two.
struct UnsafeCarrier<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: sending Value) { self.value = value }
}
