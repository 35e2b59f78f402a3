import HTTPServer
import Logging
import ServerConfiguration
import StorageCore
import UnixSignals

/// Takes renewed certificates into use without a restart: when their files change, and on SIGHUP.
///
/// Renewal writes two files one after the other: what does not fit together is left for the next look, and the server goes
/// on with what it has.
struct CertificateReloader: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 10_000

  let files: [CertificateFiles]
  let identity: TLSIdentity
  let clock: any WallClock
  let logger: Logger

  /// Looks until the task is cancelled.
  @Sendable func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await watch() }
      group.addTask {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { reload(because: "SIGHUP") }
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private func watch() async throws {
    var known = files.map(\.stamp)
    while true {
      try await clock.sleep(until: clock.now() + Self.interval)
      let found = files.map(\.stamp)
      guard found != known else { continue }
      if reload(because: "the files changed") { known = found }
    }
  }

  /// Reads the files again.
  ///
  /// - Returns: whether the certificates are in use.
  @discardableResult
  func reload(because reason: String) -> Bool {
    do {
      try identity.replace(with: try files.map { try $0.load() })
      logger.notice("certificates loaded again", metadata: ["because": "\(reason)"])
      return true
    } catch {
      let why = (error as? CertificateError)?.message ?? "\(error)"
      logger.error("the certificates cannot be loaded again; the former ones stay in use", metadata: ["why": "\(why)"])
      return false
    }
  }
}
