import ClientLink
import ClientRuntime
import SyncModel
import TreeModel

/// Where a one-time read looks.
public enum DataSource: Sendable {
  /// What a listener keeps up to date, else the server; without a connection what is on disk.
  case `default`
  /// The server only; fails without a connection.
  case server
  /// What is known here only; the server is not asked.
  case cache
}

extension DatabaseQuery {
  /// Reads once.
  public final func getData(completion block: @escaping ((any Error)?, DataSnapshot?) -> Void) {
    let boxed = Boxed(block)
    read(.default) { [database] result in
      database.environment.callbacks.call {
        switch result {
        case .success(let snapshot): boxed.value(nil, snapshot)
        case .failure(let error): boxed.value(error, nil)
        }
      }
    }
  }

  /// Reads once.
  ///
  /// - Throws: ``DatabaseError``; without a connection after three seconds, if nothing is on disk.
  public final func getData(source: DataSource = .default) async throws -> DataSnapshot {
    try await withCheckedThrowingContinuation { continuation in
      read(source) { continuation.resume(with: $0.mapError { $0 as any Error }) }
    }
  }

  private final func read(_ source: DataSource, _ done: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void) {
    let listened: ListenSpec
    switch target {
    case .success(let success): listened = success
    case .failure(let error): return done(.failure(error))
    }
    let snapshot: @Sendable (TreeNode) -> DataSnapshot = { [ref] in DataSnapshot(ref, $0, query: listened.query) }
    database.core.post { core in
      let isKnown =
        listened.isLocal || source == .cache || (source == .default && core.session.tree.serverValue(listened) != nil)
      if isKnown, let known = core.session.tree.value(listened) { return done(.success(snapshot(known))) }
      if source == .cache || listened.isLocal {
        let kept = core.store?.node(listened, core: core)
        return done(kept.map { .success(snapshot($0)) } ?? .failure(.offline))
      }
      let id = core.session.read(listened, at: core.now)
      core.reads[id] = { [weak core] result in
        switch result {
        case .success(let node): done(.success(snapshot(node)))
        case .failure(let failure):
          if failure.isOffline, source == .default, let core, let kept = core.store?.node(listened, core: core) {
            return done(.success(snapshot(kept)))
          }
          done(.failure(DatabaseError(failure.refusal, at: listened.path.description)))
        }
      }
    }
  }
}
