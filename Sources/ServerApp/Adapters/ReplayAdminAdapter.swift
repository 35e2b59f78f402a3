import AdminAPI
import AdminModel
import StorageCore
import StorageSQLite
import TreeDatabase
import TreeModel
import Triggers

/// The replayer as the API targets see it.
struct ReplayAdminAdapter: ReplayOperating {
  let replayer: Replayer
  let engine: any StorageEngine
  /// Where a rebuild may put its fresh store; nil for data that are not in a folder.
  let folder: String?

  func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Trial {
    try await mappingErrors { try await AdminReplays.Trial(replayer.preview(order, in: namespace)) }
  }

  func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Trial {
    try await mappingErrors { try await AdminReplays.Trial(replayer.dryRun(order, in: namespace)) }
  }

  func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Replay {
    try await mappingErrors { try await AdminReplays.Replay(replayer.start(order, in: namespace)) }
  }

  func pause(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay {
    try await mappingErrors { try AdminReplays.Replay(replayer.pause(replay, in: namespace)) }
  }

  func resume(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay {
    try await mappingErrors { try await AdminReplays.Replay(replayer.resume(replay, in: namespace)) }
  }

  func cancel(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay {
    try await mappingErrors { try await AdminReplays.Replay(replayer.cancel(replay, in: namespace)) }
  }

  func show(_ replay: Int64, in namespace: NamespaceID) throws -> AdminReplays.Replay {
    try looking { try AdminReplays.Replay(replayer.show(replay, in: namespace)) }
  }

  func list(in namespace: NamespaceID, before replay: Int64?, limit: Int) throws -> [AdminReplays.Replay] {
    try looking { try replayer.list(in: namespace, before: replay, limit: limit).map { AdminReplays.Replay($0) } }
  }

  func items(of replay: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws
    -> [AdminReplays.Item]
  {
    try looking {
      try replayer.items(of: replay, in: namespace, after: last, limit: limit).map { AdminReplays.Item($0) }
    }
  }

  func invoke(_ order: InvocationOrder, in namespace: NamespaceID, by actor: Actor) async throws
    -> AdminReplays.Item
  {
    let invocation = Replayer.Invocation(
      function: order.function, path: order.path, before: order.before, after: order.after, actingAs: order.actingAs,
      reason: order.reason)
    return try await mappingErrors { try await AdminReplays.Item(replayer.invoke(invocation, in: namespace, by: actor)) }
  }

  func acknowledge(function: String?, event: EventID?, in namespace: NamespaceID, reason: String)
    async throws -> Int
  {
    try await mappingErrors {
      try await replayer.dispatcher.acknowledgeDeadLetters(in: namespace, of: function, event: event, because: reason)
    }
  }

  func rebuild(_ namespace: String, into folder: String?, rerun: Bool, by actor: Actor) async throws
    -> AdminReplays.Rebuild
  {
    try await mappingErrors {
      var rebuild = AdminReplays.Rebuild(
        try await replayer.onOwnThread { try build(namespace, into: folder) }, folder: folder)
      guard rerun else { return rebuild }
      let id = try engine.read { (snapshot) throws(StorageError) in
        try snapshot.namespaces().first { $0.name == namespace }?.id
      }
      guard let id else { return rebuild }
      rebuild.rerun = AdminReplays.Comparison(try await replayer.compareAll(in: id, because: "rebuild", by: actor))
      return rebuild
    }
  }

  private func build(_ namespace: String, into target: String?) throws -> RebuildReport {
    if let target, !SQLiteEngine.isVacant(directory: target) {
      throw OperationError(.conflict, "\(target) is not empty; name an empty folder, or one that does not exist.")
    }
    let fresh: SQLiteEngine =
      if let target {
        try SQLiteEngine(directory: target)
      } else if let folder {
        try SQLiteEngine.scratch(in: folder)
      } else {
        try SQLiteEngine.inMemory()
      }
    defer { fresh.close() }
    return try engine.read { snapshot in
      try StoreRebuild.run(namespace, from: snapshot, into: fresh)
    }
  }

  /// Maps the replayer's errors to those of the API targets.
  private func mappingErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw OperationError(error)
    }
  }

  private func looking<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw OperationError(error)
    }
  }
}

extension OperationError {
  /// A domain error in the form of the API targets.
  init(_ error: any Error) {
    switch error {
    case let error as OperationError: self = error
    case let error as AdministrationError:
      let code: Code =
        switch error.code {
        case .notFound: .notFound
        case .conflict: .conflict
        case .invalid: .invalid
        }
      self.init(code, error.message)
    case let error as StorageError: self.init(error.code == .unreadable ? .conflict : .unavailable, error.message)
    default: self.init(.unavailable, "\(error)")
    }
  }
}
