package import StorageCore
package import TreeModel

extension MessageService {
  /// Events of one player that are looked at.
  private static let eventsMax = 1000

  /// What happened to a player, as far as it is kept, oldest first.
  package func events(of uid: String) throws -> [MessageEvent] {
    guard (try? Key(uid)) != nil else { return [] }
    return try records(MessageEvent.kind, beginning: "\(uid)/", limit: Self.eventsMax).compactMap {
      MessageEvent(stored: $0.value)
    }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// Raises an event for a player by hand.
  ///
  /// - Parameters:
  ///   - parameters: at most 20 scalars.
  ///   - once: makes a repetition harmless; nil for another event each time.
  /// - Returns: the event; nil if no published campaign waits for it.
  package func raise(_ name: String, for uid: String, parameters: JSON, once: String?, by actor: Actor) async throws
    -> MessageEvent?
  {
    guard CampaignDocument.isServerEventName(name) else {
      throw MessageError.badRequest("An event's name has 1 to 40 of a-z and \"_\".")
    }
    guard (try? Key(uid)) != nil, uid.utf8.count <= 128 else {
      throw MessageError.badRequest("\(uid.prefix(80)) cannot be a player's key.")
    }
    let values = try Self.scalars(parameters)
    let once = once ?? secret(bytes: 12)
    guard once.utf8.count <= 500 else { throw MessageError.badRequest("\"once\" has at most 500 bytes.") }
    let before = Set(try events(of: uid).map(\.id))
    let event = PlayerEvent(uid: uid, name: name, parameters: values, once: once)
    try await commit(by: actor) { $0.rows.playerEvents = [event] }
    let after = try events(of: uid).filter { $0.name == name }
    return after.first { !before.contains($0.id) }
      ?? after.last { $0.parameters == values.map { JSON.Member(key: $0.name, value: JSON($0.value)) } }
  }

  private static func scalars(_ json: JSON) throws -> [PlayerEvent.Parameter] {
    guard let members = json.object, members.count <= PlayerEvent.parametersMax else {
      throw MessageError.badRequest("The parameters are an object of at most \(PlayerEvent.parametersMax) values.")
    }
    return try members.map { member in
      let scalar: Scalar? =
        switch member.value {
        case .string(let text) where text.utf8.count <= PlayerEvent.textMax: .string(text)
        case .int(let number): .int(number)
        case .double(let number): .number(number)
        case .bool(let flag): .bool(flag)
        default: nil
        }
      guard let scalar, CampaignDocument.isEventName(member.key) else {
        throw MessageError.badRequest(
          "\"\(member.key.prefix(40))\" must be a text of at most \(PlayerEvent.textMax) bytes, a number or a boolean, under a name of letters, digits and \"_\"."
        )
      }
      return PlayerEvent.Parameter(name: member.key, value: scalar)
    }
  }

  // MARK: What is old

  /// Rows that one round removes.
  private static let pruneMax = 2000

  /// Removes events whose time is over, reports that nobody repeats any more, and instances that do not come.
  func prune() async throws {
    let now = clock.now()
    var gone: [KeyedRecordChange] = []
    var instances: [String] = []
    let oldest = now - settings.instanceDays * 86_400_000
    _ = try read { snapshot, namespace in
      func each(_ kind: String, _ isOver: (String) -> Bool) throws(StorageError) {
        try snapshot.forEachRecord(in: namespace, kind: kind) { record in
          guard gone.count < Self.pruneMax, isOver(record.value) else { return }
          gone.append(KeyedRecordChange(kind: kind, key: record.key, value: nil, expecting: .value(record.value)))
        }
      }
      try each(MessageEvent.kind) { MessageEvent(stored: $0).map { $0.expires <= now } ?? true }
      try each(Kind.log) { Int64($0).map { $0 <= now } ?? true }
      try snapshot.forEachRecord(in: namespace, kind: MessageInstance.kind) { record in
        guard instances.count < Self.pruneMax, let instance = MessageInstance(stored: record.value) else { return }
        if instance.lastSeen < oldest { instances.append(instance.id) }
      }
    }
    if !gone.isEmpty { try await commit { $0.rows.records = gone } }
    for instance in instances { _ = try await removeInstance(instance) }
  }
}

// MARK: - Players who leave

extension MessageService: PlayerRecordsErasing {
  package func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    var erasure = KeyedRecordErasure()
    func remove(_ records: [KeyedRecord]) {
      erasure.records += records.map { KeyedRecordChange(kind: $0.kind, key: $0.key, value: nil) }
    }
    remove(try Self.records(MessageEvent.kind, beginning: "\(uid)/", limit: 100_000, in: namespace, snapshot))
    guard let list = try snapshot.record(in: namespace, kind: MessageInstance.playerKind, key: uid) else { return erasure }
    erasure.records.append(KeyedRecordChange(kind: MessageInstance.playerKind, key: uid, value: nil))
    for instance in MessageInstance.list(stored: list) {
      let stored = try snapshot.record(in: namespace, kind: MessageInstance.kind, key: instance)
      guard stored.flatMap({ MessageInstance(stored: $0) })?.uid == uid else { continue }
      erasure.records.append(KeyedRecordChange(kind: MessageInstance.kind, key: instance, value: nil))
      for kind in [MessageMark.kind, Kind.test] {
        remove(try Self.records(kind, beginning: "\(instance)/", limit: 2000, in: namespace, snapshot))
      }
      hub.drop(instance)
    }
    return erasure
  }

  package func didErase() {}
}
