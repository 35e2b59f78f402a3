import APISupport
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

/// Whether a listen may be, and may stay: it is judged again when what its rules looked at changes, and, if they looked at
/// `now`, when time may have changed what they say.
///
/// Belongs to one listen; used on its event loop only.
final class ListenAdmission {
  private let services: RealtimeServices
  private let namespaceName: String
  private let namespace: NamespaceID
  private let path: Path
  private let query: Query?
  private let eventLoop: any EventLoop
  private var watching: PathWatching?
  private var timer: Scheduled<Void>?
  /// Whether the last judgement was none, for the store could not be looked at.
  private(set) var isUnavailable = false

  init(
    _ services: RealtimeServices, namespaceName: String, namespace: NamespaceID, path: Path, query: Query?,
    eventLoop: any EventLoop
  ) {
    self.services = services
    self.eventLoop = eventLoop
    self.namespaceName = namespaceName
    self.namespace = namespace
    self.path = path
    self.query = query
  }

  deinit { timer?.cancel() }

  /// Ends the watching: the listen is over.
  ///
  /// What is called when something changes usually holds the listen, and the listen this: a cycle that ends here.
  func end() {
    watching = nil
    timer?.cancel()
    timer = nil
  }

  /// Judges the listen.
  ///
  /// - `changed`: called, on any thread, when it should be judged again; until this is called again or released.
  func admits(_ caller: Caller, changed: @escaping @Sendable () -> Void) -> Bool {
    end()
    var judgement = judge(caller)
    var watched: Set<PathBytes> = []
    // A commit may come between the look and the watch: what is watched is looked at once more.
    while judgement.isAllowed, !watched.isSuperset(of: judgement.paths) {
      watched.formUnion(judgement.paths)
      watching = services.listeners.watch.watch(Array(watched), in: namespace, changed: changed)
      judgement = judge(caller)
    }
    isUnavailable = judgement.isUnavailable
    guard judgement.isAllowed else {
      watching = nil
      return false
    }
    if let end = judgement.holdsUntil {
      // The wall clock may be moved until then: it is looked at again each minute.
      let left = min(max(1, end - services.database.clock.now()), 60_000)
      timer = eventLoop.scheduleTask(in: .milliseconds(left)) { changed() }
    }
    return true
  }

  private func judge(_ caller: Caller) -> ReadDecision {
    services.access.decideRead(path, query: query, in: namespaceName, as: caller)
  }
}
