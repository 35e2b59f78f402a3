public import StorageCore
public import TreeModel

extension Replayer {
  /// A replay as an object: number, state, order, progress, times.
  public func show(_ id: Int64, in namespace: NamespaceID) throws -> JSON {
    try record(Key(namespace: namespace, id: id)).json
  }

  /// The replays, newest first, before one.
  public func list(in namespace: NamespaceID, before id: Int64?, limit: Int) throws -> [JSON] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.replays(in: namespace, before: id, limit: limit).map(\.json)
    }
  }

  /// What a replay gave to functions, in the order of the events, with what has become of it by now.
  ///
  /// - Parameter last: where to go on: the last item of the page before.
  public func items(of id: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws -> [JSON] {
    _ = try record(Key(namespace: namespace, id: id))
    return try engine.read { (snapshot) throws(StorageError) in
      var rows: [JSON] = []
      for item in try snapshot.replayItems(in: namespace, of: id, after: last, limit: limit) {
        let execution = try snapshot.execution(in: namespace, of: item.event, by: item.function)
        let delivery = try snapshot.delivery(in: namespace, of: item.event, to: item.function)
        rows.append(
          JSON(present: [
            ("event", .string(item.event.description)), ("function", .string(item.function)),
            ("outcome", .string(execution?.outcome.rawValue ?? delivery?.state.rawValue ?? "underway")),
            ("reason", (execution?.reason ?? delivery?.lastError).map(JSON.string)),
            ("effect", execution?.effect.map { .int($0.rawValue) }),
          ]))
      }
      return rows
    }
  }
}

extension ReplayRecord {
  /// The record for people and surfaces.
  public var json: JSON {
    [
      "id": .int(id), "state": .string(state.rawValue), "order": order.json, "progress": progress,
      "createdAt": .int(createdAt), "updatedAt": .int(updatedAt),
    ]
  }
}
