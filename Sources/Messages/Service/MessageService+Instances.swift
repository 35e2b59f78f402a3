package import StorageCore
import TreeModel

extension MessageService {
  /// How long a token is good, in milliseconds.
  package static let tokenLifetime: Int64 = 7 * 86_400_000

  /// Takes an installation in.
  ///
  /// - `wanted`: the id that the client made; another one is given where it has not the form, or is taken.
  package func register(_ wanted: String?, appID: String) async throws -> MessageRegistration {
    var id = secret(bytes: 16, isInstance: true)
    id = String(id.prefix(22))
    if let wanted, Self.isInstallation(wanted), try stored(MessageInstance.kind, key: wanted) == nil { id = wanted }
    let (token, refreshToken) = (secret(bytes: 32), secret(bytes: 32))
    let now = clock.now()
    var instance = MessageInstance(id: id, at: now)
    instance.appID = String(appID.prefix(200))
    instance.tokenHash = Self.hash(token)
    instance.tokenExpires = now + Self.tokenLifetime
    instance.refreshHash = Self.hash(refreshToken)
    let record = KeyedRecordChange(kind: MessageInstance.kind, key: id, value: instance.stored, expecting: .absent)
    guard try await commit({ $0.rows.records = [record] }) else {
      // Somebody took the same id at the same moment.
      return try await register(nil, appID: appID)
    }
    return MessageRegistration(instance: id, refreshToken: refreshToken, token: token)
  }

  /// 22 characters of base64url whose first four bits are 0111.
  private static func isInstallation(_ text: String) -> Bool {
    text.utf8.count == 22 && CampaignDocument.isID(text) && ["c", "d", "e", "f"].contains(text.first)
  }

  /// A new token for an installation.
  package func refresh(_ id: String, refreshToken: String) async throws -> String {
    _ = try authenticated(id, refreshToken: refreshToken)
    let token = secret(bytes: 32)
    let (hash, expires) = (Self.hash(token), clock.now() + Self.tokenLifetime)
    let putting = RecordDecision { session, namespace, _ throws(StorageError) in
      // What a fetch has noted meanwhile stays, and who is gone does not come back.
      guard let stored = try session.record(in: namespace, kind: MessageInstance.kind, key: id),
        var instance = MessageInstance(stored: stored)
      else { return }
      (instance.tokenHash, instance.tokenExpires) = (hash, expires)
      session.put(KeyedRecordChange(kind: MessageInstance.kind, key: id, value: instance.stored), in: namespace)
    }
    try await commit { $0.decision = putting }
    return token
  }

  /// Removes an installation, and what is known of it.
  package func unregister(_ id: String, refreshToken: String) async throws {
    _ = try authenticated(id, refreshToken: refreshToken)
    _ = try await removeInstance(id)
  }

  private func authenticated(_ id: String, refreshToken: String) throws -> MessageInstance {
    guard let instance = try instance(id), instance.refreshHash == Self.hash(refreshToken) else {
      throw InstanceError.unauthenticated
    }
    return instance
  }

  /// An installation by its id.
  package func instance(_ id: String) throws -> MessageInstance? {
    guard MessageInstance.isID(id) else { return nil }
    return try stored(MessageInstance.kind, key: id).flatMap { MessageInstance(stored: $0) }
  }

  /// The installation that a client is, by its token. In development any is taken in.
  package func authenticated(_ id: String, token: String?) throws -> MessageInstance {
    guard MessageInstance.isID(id) else { throw InstanceError.unauthenticated }
    guard let instance = try instance(id) else {
      guard isDevelopment else { throw InstanceError.unauthenticated }
      return MessageInstance(id: id, at: clock.now())
    }
    // One that was met in development has no token.
    guard let hash = instance.tokenHash else {
      guard isDevelopment else { throw InstanceError.unauthenticated }
      return instance
    }
    guard let token, Self.hash(token) == hash, instance.tokenExpires ?? 0 > clock.now() else {
      throw InstanceError.unauthenticated
    }
    return instance
  }

  /// Visits have so much time between them, in milliseconds.
  private static let visitGap: Int64 = 30 * 60_000
  /// What has not changed is written again after so long, in milliseconds.
  private static let touchInterval: Int64 = 10 * 60_000

  /// Notes what a client says of itself; writes it where it is new.
  func meet(_ client: MessageClient, as before: MessageInstance) async throws -> MessageInstance {
    let now = clock.now()
    var after = before
    after.platform = String(client.platform.prefix(40))
    after.appID = String(client.appID.prefix(200))
    after.language = String((client.language ?? "").prefix(40))
    after.timeZone = String((client.timeZone ?? "").prefix(64))
    after.appVersion = String((client.appVersion ?? "").prefix(60))
    after.osVersion = String((client.osVersion ?? "").prefix(60))
    if let uid = client.uid { after.uid = uid }
    let isNewVisit = before.sessions == 0 || now - before.lastSeen >= Self.visitGap
    if isNewVisit { after.sessions += 1 }
    let isWorthWriting = isNewVisit || after != before || now - before.lastSeen >= Self.touchInterval
    after.lastSeen = now
    guard isWorthWriting else { return after }
    let (kept, isJoining) = (after, after.uid != before.uid || before.sessions == 0)
    let putting = RecordDecision { session, namespace, _ throws(StorageError) in
      // What the day's reports have counted meanwhile stays.
      var row = kept
      if let stored = try session.record(in: namespace, kind: MessageInstance.kind, key: kept.id),
        let current = MessageInstance(stored: stored)
      {
        (row.day, row.logged) = (current.day, current.logged)
        (row.tokenHash, row.tokenExpires, row.refreshHash) = (current.tokenHash, current.tokenExpires, current.refreshHash)
      } else if kept.tokenHash != nil {
        // It was removed meanwhile, and does not come back.
        return
      }
      session.put(KeyedRecordChange(kind: MessageInstance.kind, key: kept.id, value: row.stored), in: namespace)
      guard isJoining else { return }
      if let uid = before.uid, uid != kept.uid { try Self.leave(uid, instance: kept.id, in: namespace, session: session) }
      if let uid = kept.uid { try Self.join(uid, instance: kept.id, in: namespace, session: session) }
    }
    try await commit { $0.decision = putting }
    return after
  }

  private static func join(_ uid: String, instance id: String, in namespace: NamespaceID, session: any CommitSession)
    throws(StorageError)
  {
    let stored = try session.record(in: namespace, kind: MessageInstance.playerKind, key: uid)
    let list = (stored.map(MessageInstance.list(stored:)) ?? []).filter { $0 != id } + [id]
    let value = MessageInstance.stored(list: list)
    session.put(KeyedRecordChange(kind: MessageInstance.playerKind, key: uid, value: value), in: namespace)
    // One that is not in the list would keep the player's name when the player leaves; it joins again with its next fetch.
    for forgotten in list.dropLast(MessageInstance.listMax) {
      guard let stored = try session.record(in: namespace, kind: MessageInstance.kind, key: forgotten),
        var instance = MessageInstance(stored: stored), instance.uid == uid
      else { continue }
      instance.uid = nil
      session.put(KeyedRecordChange(kind: MessageInstance.kind, key: forgotten, value: instance.stored), in: namespace)
    }
  }

  private static func leave(_ uid: String, instance id: String, in namespace: NamespaceID, session: any CommitSession)
    throws(StorageError)
  {
    guard let stored = try session.record(in: namespace, kind: MessageInstance.playerKind, key: uid) else { return }
    let list = MessageInstance.list(stored: stored).filter { $0 != id }
    let value = list.isEmpty ? nil : MessageInstance.stored(list: list)
    session.put(KeyedRecordChange(kind: MessageInstance.playerKind, key: uid, value: value), in: namespace)
  }

  // MARK: For administrators

  /// Rows that a listing looks through.
  private static let scanMax = 10_000

  /// The instances of a player, or all; the last seen first.
  package func devices(of uid: String?, limit: Int) throws -> [MessageInstance] {
    let found: [MessageInstance]
    if let uid {
      let list = try stored(MessageInstance.playerKind, key: uid).map(MessageInstance.list(stored:)) ?? []
      found = try list.compactMap { try instance($0) }
    } else {
      found = try records(MessageInstance.kind, beginning: "", limit: Self.scanMax).compactMap {
        MessageInstance(stored: $0.value)
      }
    }
    return Array(found.sorted { $0.lastSeen > $1.lastSeen }.prefix(limit))
  }

  /// Removes an instance with its marks and tests; false if there is none.
  package func removeInstance(_ id: String) async throws -> Bool {
    guard let instance = try instance(id) else { return false }
    let gone =
      try records(MessageMark.kind, beginning: "\(id)/", limit: 2000) + records(Kind.test, beginning: "\(id)/", limit: 2000)
    let removing = RecordDecision { session, namespace, _ throws(StorageError) in
      session.put(KeyedRecordChange(kind: MessageInstance.kind, key: id, value: nil), in: namespace)
      for record in gone { session.put(KeyedRecordChange(kind: record.kind, key: record.key, value: nil), in: namespace) }
      if let uid = instance.uid { try Self.leave(uid, instance: id, in: namespace, session: session) }
    }
    try await commit { $0.decision = removing }
    hub.drop(id)
    return true
  }

  /// Orders a display as a test: open apps are told, others find it at their next fetch, for a day.
  package func orderTest(_ id: String, devices: [String], variant: String?, by actor: Actor) async throws {
    let campaign = try campaign(id)
    guard campaign.state == .draft || campaign.state == .published else {
      throw MessageError.conflict("The campaign is \(campaign.state.rawValue); duplicate it to test it.")
    }
    guard (1...100).contains(devices.count) else { throw MessageError.badRequest("\"devices\" names 1 to 100 instances.") }
    if let variant, !campaign.document.variants.contains(where: { $0.name == variant }) {
      throw MessageError.badRequest("The campaign has no variant \(variant.prefix(64)).")
    }
    for device in devices where try instance(device) == nil {
      throw MessageError.badRequest("There is no instance \(device.prefix(64)); an app is known once it has fetched.")
    }
    let value = JSON(fields: [("variant", variant.map(JSON.string)), ("until", .int(clock.now() + 86_400_000))]).compactText
    try await commit(by: actor) { request in
      request.rows.records = devices.map { KeyedRecordChange(kind: Kind.test, key: "\($0)/\(id)", value: value) }
    }
    for device in devices { hub.refresh(device) }
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
    for kind in [MessageEvent.kind, MessageEvent.toldKind] {
      remove(try Self.records(kind, beginning: "\(uid)/", limit: 100_000, in: namespace, snapshot))
    }
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

// MARK: - Players who become one

extension MessageService {
  /// What takes along what waits for a player whose account is merged into another one: events, told or not, and the apps that
  /// the player was signed in to, so that what was seen there counts for the other account at once.
  ///
  /// Each change expects what was read, so that a commit that comes between makes the merge look again.
  package func moves(of uid: String, to other: String, in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> [KeyedRecordChange]
  {
    guard home.known() == namespace else { return [] }
    var changes: [KeyedRecordChange] = []
    for kind in [MessageEvent.kind, MessageEvent.toldKind] {
      for record in try Self.records(kind, beginning: "\(uid)/", limit: 100_000, in: namespace, snapshot) {
        changes.append(KeyedRecordChange(kind: kind, key: record.key, value: nil, expecting: .value(record.value)))
        guard let event = MessageEvent(stored: record.value)?.moved(to: other),
          try snapshot.record(in: namespace, kind: kind, key: event.key) == nil
        else { continue }
        changes.append(KeyedRecordChange(kind: kind, key: event.key, value: event.json.compactText, expecting: .absent))
      }
    }
    return try changes + instanceMoves(of: uid, to: other, in: namespace, snapshot: snapshot)
  }

  private func instanceMoves(of uid: String, to other: String, in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> [KeyedRecordChange]
  {
    let kind = MessageInstance.playerKind
    guard let left = try snapshot.record(in: namespace, kind: kind, key: uid) else { return [] }
    var changes = [KeyedRecordChange(kind: kind, key: uid, value: nil, expecting: .value(left))]
    let own = try snapshot.record(in: namespace, kind: kind, key: other)
    let known = own.map(MessageInstance.list(stored:)) ?? []
    var moved: [String] = []
    // The newest first: those for which there is no place in the list are nobody's.
    for id in MessageInstance.list(stored: left).reversed() {
      guard let stored = try snapshot.record(in: namespace, kind: MessageInstance.kind, key: id),
        var instance = MessageInstance(stored: stored), instance.uid == uid
      else { continue }
      let isKnown = known.contains(id)
      let hasPlace = isKnown || moved.count + known.count < MessageInstance.listMax
      instance.uid = hasPlace ? other : nil
      changes.append(
        KeyedRecordChange(kind: MessageInstance.kind, key: id, value: instance.stored, expecting: .value(stored)))
      if hasPlace, !isKnown { moved.insert(id, at: 0) }
    }
    let list = moved + known
    guard !list.isEmpty else { return changes }
    changes.append(
      KeyedRecordChange(
        kind: kind, key: other, value: MessageInstance.stored(list: list), expecting: own.map { .value($0) } ?? .absent))
    return changes
  }
}
