package import AdminModel
import HTTPServer
package import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// Audits of logs that go on in the background, one at a time, each on a thread of its own that may wait for the disk.
///
/// What each namespace's last one came to is kept until the process ends.
package final class LogAudits: Sendable {
  /// Namespaces whose last audit is kept.
  private static let keptMax = 64

  private struct State {
    var audits: [NamespaceID: AdminLogs.BackgroundVerification] = [:]
    var running: (namespace: NamespaceID, thread: BlockingThread)?
    var isStopping = false
  }

  private let engine: any StorageEngine
  private let clock: any WallClock
  private let state = Mutex(State())

  package init(engine: any StorageEngine, clock: any WallClock) {
    self.engine = engine
    self.clock = clock
  }

  /// What is known of a namespace's audit.
  package func audit(of namespace: NamespaceID) -> AdminLogs.BackgroundVerification {
    state.withLock { $0.audits[namespace] } ?? AdminLogs.BackgroundVerification(state: .none)
  }

  /// Begins one.
  ///
  /// - Returns: how it is now; nil if another one is under way, or the server stops.
  /// - Throws: `StorageError` if the namespace's head cannot be read.
  package func begin(_ namespace: NamespaceID, by actor: Actor) throws(StorageError) -> AdminLogs.BackgroundVerification? {
    let head = try engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: namespace) }
    let begun = AdminLogs.BackgroundVerification(
      state: .running, startedAt: Timestamp(clock.now()), actor: actor.description, commitCount: head.revision.rawValue,
      entryCount: head.entrySequence)
    let ended: BlockingThread?? = state.withLock { state in
      if state.isStopping { return .none }
      if let running = state.running, state.audits[running.namespace]?.state == .running { return .none }
      let ended = state.running?.thread
      if state.audits.count >= Self.keptMax { state.audits = [:] }
      state.audits[namespace] = begun
      state.running = (namespace, BlockingThread { [self] in run(namespace) })
      return .some(ended)
    }
    guard let ended else { return nil }
    ended?.join()
    return begun
  }

  /// Ends what is under way, and waits for it; before the store is closed.
  package func stop() {
    let thread = state.withLock { state in
      state.isStopping = true
      defer { state.running = nil }
      return state.running?.thread
    }
    thread?.join()
  }

  private func run(_ namespace: NamespaceID) {
    do {
      let report = try engine.read { (snapshot) throws(StorageError) in
        try LogAudit.verify(snapshot, namespace: namespace) { [self] report in goesOn(report, namespace) }
      }
      let isStopped = state.withLock(\.isStopping)
      end(namespace) { audit in
        (audit.commits, audit.entries, audit.executions) = (report.commits, report.entries, report.executions)
        audit.state = isStopped ? .failed : .done
        if isStopped { audit.failure = "The server stopped." } else { audit.result = AdminLogs.Verification(report) }
      }
    } catch {
      end(namespace) { audit in
        audit.state = .failed
        audit.failure = "The log could not be read: \(error.message)"
      }
    }
  }

  /// Notes how far it is. Returns whether to read on.
  private func goesOn(_ report: LogReport, _ namespace: NamespaceID) -> Bool {
    state.withLock { state in
      state.audits[namespace]?.commits = report.commits
      state.audits[namespace]?.entries = report.entries
      state.audits[namespace]?.executions = report.executions
      return !state.isStopping
    }
  }

  private func end(_ namespace: NamespaceID, _ change: (inout AdminLogs.BackgroundVerification) -> Void) {
    let now = clock.now()
    state.withLock { state in
      guard var audit = state.audits[namespace] else { return }
      audit.endedAt = Timestamp(now)
      change(&audit)
      state.audits[namespace] = audit
    }
  }
}
