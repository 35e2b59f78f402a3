import AdminAPI
import StorageCore
import StorageSQLite
import TextFormats
import TreeDatabase
import TreeModel
import Triggers

/// The replayer as the API targets see it.
struct ReplayAdminAdapter: ReplayOperating {
  let replayer: Replayer
  let engine: any StorageEngine
  /// Where a rebuild may put its fresh store; nil for data that are not in a folder.
  let folder: String?

  func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try await replayer.preview(order, in: namespace).json }
  }

  func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try await replayer.dryRun(order, in: namespace).json }
  }

  func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try await replayer.start(order, in: namespace).json }
  }

  func pause(_ replay: Int64, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try replayer.pause(replay, in: namespace).json }
  }

  func resume(_ replay: Int64, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try await replayer.resume(replay, in: namespace).json }
  }

  func cancel(_ replay: Int64, in namespace: NamespaceID) async throws -> JSON {
    try await faulting { try await replayer.cancel(replay, in: namespace).json }
  }

  func show(_ replay: Int64, in namespace: NamespaceID) throws -> JSON {
    try looking { try replayer.show(replay, in: namespace).json }
  }

  func list(in namespace: NamespaceID, before replay: Int64?, limit: Int) throws -> [JSON] {
    try looking { try replayer.list(in: namespace, before: replay, limit: limit).map(\.json) }
  }

  func items(of replay: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws -> [JSON] {
    try looking { try replayer.items(of: replay, in: namespace, after: last, limit: limit).map(\.json) }
  }

  func invoke(_ order: InvocationOrder, in namespace: NamespaceID, by actor: Actor) async throws -> JSON {
    let invocation = Replayer.Invocation(
      function: order.function, path: order.path, before: order.before, after: order.after, actingAs: order.actingAs,
      reason: order.reason)
    return try await mappingErrors { try await replayer.invoke(invocation, in: namespace, by: actor).json }
  }

  func acknowledge(function: String?, event: EventID?, in namespace: NamespaceID, reason: String)
    async throws -> Int
  {
    try await mappingErrors {
      try await replayer.dispatcher.acknowledgeDeadLetters(in: namespace, of: function, event: event, because: reason)
    }
  }

  func rebuild(_ namespace: String, into folder: String?, rerun: Bool, by actor: Actor) async throws -> JSON {
    try await faulting {
      let report = try await replayer.onOwnThread { try build(namespace, into: folder) }
      var members = report.members
      if let folder { members.append(.init(key: "folder", value: .string(folder))) }
      guard rerun else { return .object(members) }
      let id = try engine.read { snapshot in
        try snapshot.namespaces().first { $0.name == namespace }?.id
      }
      guard let id else { return .object(members) }
      let comparison = try await replayer.compareAll(in: id, because: "rebuild", by: actor)
      return .object(members + [.init(key: "rerun", value: comparison.json)])
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
  private func faulting<Result>(_ body: () async throws -> Result) async throws -> Result {
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

extension RebuildReport {
  fileprivate var members: [JSON.Member] {
    var members: [JSON.Member] = [
      .init(key: "equal", value: .bool(isEqual)), .init(key: "through", value: .int(through.rawValue)),
      .init(key: "commits", value: .int(commits)), .init(key: "entries", value: .int(entries)),
      .init(key: "executions", value: .int(executions)), .init(key: "recorded", value: .string(Hex.encode(recorded))),
      .init(key: "rebuilt", value: .string(Hex.encode(rebuilt))), .init(key: "faultCount", value: .int(Int64(faultCount))),
      .init(key: "faults", value: .array(faults.map { .string($0.message) })),
    ]
    if checkpoint > .zero { members.append(.init(key: "checkpoint", value: .int(checkpoint.rawValue))) }
    return members
  }
}
