public import StorageCore

/// What administrators do to a short link that is there.
extension LinkBook {
  /// A link that was changed.
  public struct Edited: Sendable {
    /// As it is now.
    public let record: LinkRecord
    /// What is doubtful about what it says now.
    public let warnings: [LinkWarning]
  }

  /// Changes what a link says, what it is called, or whether it is on. It keeps its address, its code, and what was counted.
  ///
  /// What openings of before gave out, proofs of clicks among it, is good for what the link says now.
  ///
  /// - Parameter key: prefix and suffix.
  /// - Throws: ``LinkFault``; nothing was changed.
  public func edit(_ key: String, _ edit: LinkEdit, actor: Actor) async throws(LinkFault) -> Edited {
    for _ in 0..<16 {
      let (value, before) = try await stored(key)
      var record = before
      var warnings: [LinkWarning] = []
      if !edit.parameters.isEmpty { warnings = try apply(edit.parameters, to: &record) }
      if let name = edit.name { record.name = name }
      if let isDisabled = edit.isDisabled { record.disabledAt = isDisabled ? record.disabledAt ?? clock.now() : nil }
      guard record != before else { return Edited(record: record, warnings: warnings) }
      record.changedAt = clock.now()
      var changes = [RoomChange(kind: Kind.link, key: key, value: record.value, expecting: .value(value))]
      // Who orders what the link said before gets a link that says it.
      if record.canonical != before.canonical { changes += try await sameRow(of: before) }
      changes += try await formRows(from: before, to: record)
      if try await commit(changes, of: key, actor: actor) { return Edited(record: record, warnings: warnings) }
    }
    throw LinkFault(.unavailable, "The link is being changed by others; try again.")
  }

  /// Deletes a link with its code. Its suffix is given to no other link by chance, and says that there was one.
  ///
  /// What was claimed by it stays: rewards rest on that.
  public func delete(_ key: String, actor: Actor) async throws(LinkFault) -> LinkRecord {
    for _ in 0..<16 {
      let (value, record) = try await stored(key)
      var changes = [
        RoomChange(kind: Kind.link, key: key, value: nil, expecting: .value(value)),
        RoomChange(kind: Kind.deleted, key: key, value: "{\"at\":\(clock.now())}"),
      ]
      if let code = record.code { changes.append(RoomChange(kind: Kind.code, key: code, value: nil)) }
      changes += try await sameRow(of: record)
      changes += try await formRows(from: record, to: nil)
      if try await commit(changes, of: key, actor: actor) { return record }
    }
    throw LinkFault(.unavailable, "The link is being changed by others; try again.")
  }

  /// Whether there was a link that an administrator deleted.
  public func wasDeleted(_ key: String) throws(LinkFault) -> Bool {
    let found = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.deleted, key: key)
    }
    return (found ?? nil) != nil
  }

  private func stored(_ key: String) async throws(LinkFault) -> (value: String, record: LinkRecord) {
    let found = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.link, key: key)
    }
    guard let value = found ?? nil else {
      throw LinkFault(.notFound, "There is no short link https://\(key.prefix(200)).", reason: "unknown_link")
    }
    guard let record = LinkRecord(key: key, value: value) else {
      throw LinkFault(.unavailable, "The record of this link cannot be read; restore a backup.")
    }
    return (value, record)
  }

  private func apply(_ changes: [LinkParameter: String?], to record: inout LinkRecord) throws(LinkFault) -> [LinkWarning] {
    guard let prefix = record.prefix, var parameters = record.parameters else {
      throw LinkFault(.failedPrecondition, "What this link says cannot be read; delete it and create another.")
    }
    for (parameter, text) in changes { parameters[parameter] = text }
    let warnings = try LinkChecker(settings: settings).check(parameters, below: prefix)
    record.canonical = parameters.canonical
    return warnings
  }

  /// Lets go of the row by which an equal order finds the link.
  private func sameRow(of record: LinkRecord) async throws(LinkFault) -> [RoomChange] {
    guard record.option != .custom, record.invite == nil, let prefix = record.prefix else { return [] }
    let same = Self.sameKey(prefix: prefix.key, record.canonical, record.option, owner: record.owner)
    let found = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.same, key: same)
    }
    // After an edit another link may be the one that says this.
    return found == record.key ? [RoomChange(kind: Kind.same, key: same, value: nil, expecting: .value(record.key))] : []
  }

  /// Commits; false if the link was changed since it was read.
  private func commit(_ changes: [RoomChange], of key: String, actor: Actor) async throws(LinkFault) -> Bool {
    do throws(LinkFault) {
      try await commit(records: changes, actor: actor)
    } catch  where error.reason == Self.changed {
      return false
    }
    cache.remove(key)
    return true
  }
}
