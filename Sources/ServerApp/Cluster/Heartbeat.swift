import Glibc
import Logging
import StorageCore
import StoragePostgres
import Synchronization

/// Shows once a second that this node lives, on a thread of its own, and tells the term that it leads how long that holds.
final class Heartbeat: Sendable {
  /// Beats between two looks at whether the server is still kept on more than one machine.
  private static let beatsBetweenLooks = 10

  private let term = Mutex<PostgresJournal?>(nil)
  private let isStopped = Atomic<Bool>(false)
  private let address: String
  private let version: String
  private let logger: Logger

  /// - `address`: where this node is reached, as `host:port`.
  /// - `version`: the program's.
  init(address: String, version: String, logger: Logger) {
    self.address = address
    self.version = version
    self.logger = logger
  }

  /// Tells this term of answered beats from now on; nil: none.
  func tell(_ journal: PostgresJournal?) { term.withLock { $0 = journal } }

  /// Ends the thread after its next beat.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Begins to beat.
  ///
  /// - Parameter lease: used by the thread alone from now on.
  func start(_ lease: sending PostgresLease) {
    let carrier = UnsafeCarrier(lease)
    BlockingThread { [self] in run(carrier.value) }.detach()
  }

  private func run(_ lease: PostgresLease) {
    var beats = 0
    while !isStopped.load(ordering: .relaxed) {
      let start = MonotonicTime.now()
      beat(lease, looks: beats % Self.beatsBetweenLooks == 0)
      beats += 1
      let rest = PostgresLease.beatInterval - (MonotonicTime.now() - start)
      if rest > 0 { usleep(UInt32(rest * 1000)) }
    }
  }

  private func beat(_ lease: PostgresLease, looks: Bool) {
    let sent = MonotonicTime.now()
    guard let fence = try? lease.beat(address: address, version: version), let journal = term.withLock(\.self) else { return }
    guard fence == journal.fence else { return journal.end("another node leads by now") }
    journal.noteBeat(sentAt: sent)
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
