import ClientLink
import ClientRuntime
import Foundation
import SyncModel
import TreeModel

/// A realtime database: a tree of JSON that every player sees change.
public final class Database: Sendable {
  private let place: Locked<DatabaseEnvironment>
  /// Why nothing can be done.
  private let problem: DatabaseError?
  private let settings = Locked(Settings())
  private let pushIDs = Locked((ids: PushIDGenerator(), random: SystemRandomNumberGenerator()))
  private let made = Locked<DatabaseCore?>(nil)

  private struct Settings {
    var isPersistenceEnabled = false
    var cacheBytes: UInt = 10 << 20
  }

  /// - `problem`: why nothing can be done; nil if it can.
  init(_ environment: DatabaseEnvironment, problem: DatabaseError? = nil) {
    place = Locked(environment)
    self.problem = problem
  }

  var environment: DatabaseEnvironment { place.copy }

  /// The state; from the first use on the settings are what they are.
  var core: DatabaseCore {
    made.withLock { made in
      if let core = made { return core }
      let core = DatabaseCore(environment)
      let settings = settings.copy
      if settings.isPersistenceEnabled { core.openStore(cacheBytesMax: Int(settings.cacheBytes)) }
      made = core
      return core
    }
  }

  /// The root.
  public func reference() -> DatabaseReference { DatabaseReference(self, problem.map { .failure($0) } ?? .success(.root)) }

  /// The place of a path; of an illegal one every operation fails and says why.
  public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

  /// The place of a URL of this database.
  public func reference(fromURL url: String) -> DatabaseReference {
    guard let address = ServiceAddress(url), address == environment.server, let parts = URLComponents(string: url) else {
      let reason = "Invalid path: \(url) is no URL of this database, which is at \(environment.server)."
      return DatabaseReference(self, .failure(.invalidPath(reason)))
    }
    return reference(withPath: parts.path)
  }

  /// Whether the log tells of every connection that is opened and lost, of all databases of the process; off unless it is set.
  /// What is written and read is never told.
  public static func setLoggingEnabled(_ isEnabled: Bool) { ClientLog.isVerbose.withLock { $0 = isEnabled } }

  /// Closes the connection; writes wait. Ends with ``goOnline()``.
  public func goOffline() { core.post { $0.session.setOnline(false, at: $0.now) } }
  /// Connects again, at once: also where the next try would wait, so that an app that comes to the foreground, or hears of another
  /// network, calls it.
  public func goOnline() { core.post { $0.session.setOnline(true, at: $0.now) } }
  /// Gives up all writes that the server has not answered: they fail with ``DatabaseError/writeCanceled``.
  public func purgeOutstandingWrites() { core.post { $0.session.purgeWrites($0.now) } }

  /// Closes the connection, and lets go of the files: what is pending stays in them.
  func shutDown() async {
    guard let core = made.copy else { return }
    await withCheckedContinuation { continuation in
      core.post { core in
        core.shutDown()
        continuation.resume()
      }
    }
  }

  /// Whether data and pending writes are kept on disk; off unless set before the first use.
  public var isPersistenceEnabled: Bool {
    get { settings.copy.isPersistenceEnabled }
    set { change("isPersistenceEnabled") { $0.isPersistenceEnabled = newValue } }
  }

  /// How large the data on disk may be: 1 to 100 MB; 10 MB unless set before the first use.
  public var persistenceCacheSizeBytes: UInt {
    get { settings.copy.cacheBytes }
    set { change("persistenceCacheSizeBytes") { $0.cacheBytes = min(max(newValue, 1 << 20), 100 << 20) } }
  }

  /// Changes what the database stands on, before the first use.
  func move(_ name: String, _ change: (inout DatabaseEnvironment) -> Void) {
    guard made.copy == nil else {
      return environment.log(.warning, "\(name) is set after the first use of the database, and does not count.")
    }
    place.withLock(change)
  }

  private func change(_ name: String, _ change: (inout Settings) -> Void) {
    guard made.copy == nil else {
      return environment.log(.warning, "\(name) is set after the first use of the database, and does not count.")
    }
    settings.withLock(change)
  }

  func text(of path: Path) -> String {
    let keys = path.keys.map { $0.text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? $0.text }
    return "\(environment.server)" + (keys.isEmpty ? "" : "/" + keys.joined(separator: "/"))
  }

  func nextPushID() -> String {
    pushIDs.withLock { $0.ids.next(now: environment.clock.milliseconds, random: &$0.random) }
  }
}
