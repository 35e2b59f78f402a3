import StorageCore
import TreeModel

/// What became of one piece of the writer's work, to be told once its batch is durable.
enum JudgedWork: Sendable {
  case committed(CommittedRequest, @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
  case refused(CommitRefusal, @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
  case opened(Result<NamespaceID, CommitRefusal>, @Sendable (Result<NamespaceID, CommitRefusal>) -> Void)
  case forgotten(NamespaceID, @Sendable (Result<Void, CommitRefusal>) -> Void)
  case done(@Sendable (Result<Void, CommitRefusal>) -> Void)

  /// Hands out the answer. After a batch that failed everything that was judged on it is refused: also what was going to be
  /// refused, for it was judged on a state that does not exist.
  func tell(failure: StorageError?) {
    switch self {
    case .committed(let committed, let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? .success(committed.receipt))
    case .refused(let refusal, let completion):
      completion(.failure(failure.map { CommitRefusal($0) } ?? refusal))
    case .opened(let result, let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? result)
    case .forgotten(_, let completion), .done(let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? .success(()))
    }
  }
}
