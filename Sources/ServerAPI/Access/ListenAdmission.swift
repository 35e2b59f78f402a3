import StorageCore
import TreeDatabase
import TreeModel

/// Whether a listen may be, and may stay: it is judged again when what its rules looked at changes.
///
/// Belongs to one listen; used on its event loop only.
final class ListenAdmission {
  private let services: ServerServices
  private let namespaceName: String
  private let namespace: NamespaceID
  private let path: Path
  private let query: Query?
  private var watching: PlaceWatching?

  init(_ services: ServerServices, namespaceName: String, namespace: NamespaceID, path: Path, query: Query?) {
    self.services = services
    self.namespaceName = namespaceName
    self.namespace = namespace
    self.path = path
    self.query = query
  }

  /// Judges the listen.
  ///
  /// - Parameter changed: called, on any thread, when it should be judged again; until this is called again or let go.
  func admits(_ caller: Caller, changed: @escaping @Sendable () -> Void) -> Bool {
    watching = nil
    var judgement = judge(caller)
    var watched: Set<PathBytes> = []
    // A commit may come between the look and the watch: what is watched is looked at once more.
    while judgement.isAllowed, !watched.isSuperset(of: judgement.places) {
      watched.formUnion(judgement.places)
      watching = services.listeners.watch.watch(Array(watched), in: namespace, changed: changed)
      judgement = judge(caller)
    }
    if !judgement.isAllowed { watching = nil }
    return judgement.isAllowed
  }

  private func judge(_ caller: Caller) -> ReadJudgement {
    services.access.judgeRead(path, query: query, in: namespaceName, as: caller)
  }
}
