import StorageCore
import Synchronization

/// Bounds what waits for the hub, and notes the namespaces of which commits were left out.
///
/// While any is noted, one ``HubWork/missed`` is in the queue. Whatever is noted before the hub takes the note was durable
/// before: snapshots that are read afterwards have it.
final class MissedCommits: Sendable {
  enum Admission {
    case admitted
    /// Left out, and a note must be queued.
    case missedFirst
    /// Left out; the note is queued already.
    case missed
  }

  private let backlog = Atomic<Int>(0)
  private let namespaces = Mutex<Set<NamespaceID>>([])

  func admit(_ weight: Int, of batch: [CommittedRequest], max: Int) -> Admission {
    if backlog.load(ordering: .relaxed) + weight <= max {
      backlog.add(weight, ordering: .relaxed)
      return .admitted
    }
    return namespaces.withLock { namespaces in
      let isFirst = namespaces.isEmpty
      for commit in batch where commit.receipt.changed { namespaces.insert(commit.request.namespace) }
      return isFirst ? .missedFirst : .missed
    }
  }

  func release(_ weight: Int) { backlog.subtract(weight, ordering: .relaxed) }

  func take() -> Set<NamespaceID> {
    namespaces.withLock { namespaces in
      defer { namespaces = [] }
      return namespaces
    }
  }
}
