package import StorageCore
package import TreeModel

extension MessageService {
  /// Key of the setting that counts what was created and published: who adds a campaign expects that nobody has added one since
  /// they were counted.
  private static let additions = "additions"
  /// Versions of one campaign that are listed.
  private static let versionsMax = 50

  /// All campaigns that are not deleted, by id.
  package func campaigns() throws -> [Campaign] {
    var found: [Campaign] = []
    _ = try read { snapshot, namespace in
      try snapshot.forEachRecord(in: namespace, kind: Kind.campaign) { record in
        if let campaign = Campaign(id: record.key, stored: record.value, in: surroundings), campaign.state != .deleted {
          found.append(campaign)
        }
      }
    }
    return found
  }

  /// Whether a campaign is published and its time is over; without a zone of its own, as devices in UTC have it.
  package func hasEnded(_ campaign: Campaign) -> Bool {
    guard campaign.state == .published, let end = campaign.span(in: nil, zones: surroundings.zones).end else { return false }
    return end <= clock.now()
  }

  /// A campaign, a deleted one too, of which only the id and the counts are left.
  package func campaign(_ id: String) throws -> Campaign { try standing(id).campaign }

  /// The campaign with the text that it must still have when it is changed.
  ///
  /// - `ifVersion`: the version that it must have; nil for any. As the commit asks for the text, nobody comes between.
  private func standing(_ id: String, ifVersion: Int64? = nil) throws -> (campaign: Campaign, stored: String) {
    guard let text = try stored(Kind.campaign, key: id), let campaign = Campaign(id: id, stored: text, in: surroundings) else {
      throw MessageError.unknown(id)
    }
    if let ifVersion, ifVersion != campaign.version { throw MessageError.versionChanged(campaign.version) }
    return (campaign, text)
  }

  /// What is wrong with a document; nothing is stored.
  package func check(_ document: JSON) -> CampaignCheck {
    let faults = CampaignDocument.read(document, in: surroundings).faults
    return CampaignCheck(faults: faults.refusals, warnings: faults.warnings)
  }

  private func checked(_ json: JSON) throws -> (CampaignDocument, warnings: [CampaignFault]) {
    let (document, faults) = CampaignDocument.read(json, in: surroundings)
    guard let document else { throw MessageError.invalid(faults.refusals) }
    return (document, faults.warnings)
  }

  // MARK: Changing

  /// Makes a draft.
  package func create(_ json: JSON, by actor: Actor) async throws -> Campaign {
    let (document, warnings) = try checked(json)
    let id = document.id ?? secret(bytes: 9)
    while true {
      let additions = try stored(Kind.setting, key: Self.additions)
      guard try stored(Kind.campaign, key: id) == nil else { throw MessageError.taken(id) }
      guard try campaigns().count < campaignsMax else {
        throw MessageError.limit("There are \(campaignsMax) campaigns; delete some.")
      }
      let campaign = Campaign(
        id: id, state: .draft, version: 1, document: document, createdAt: clock.now(), by: actor.description,
        warnings: warnings)
      if try await keep(campaign, action: "create", expecting: .absent, adding: Self.addition(to: additions), by: actor) {
        return campaign
      }
    }
  }

  /// The change of a commit that adds a campaign to those that were counted: refused if another one was added since.
  private static func addition(to standing: String?) -> KeyedRecordChange {
    let next = (standing.flatMap { Int64($0) } ?? 0) + 1
    return KeyedRecordChange(
      kind: Kind.setting, key: additions, value: String(next), expecting: standing.map { .value($0) } ?? .absent)
  }

  /// Replaces the document of a draft; of a published campaign only test devices, and an end that comes nearer.
  ///
  /// - `ifVersion`: the version that the author saw; nil for any.
  package func replace(_ id: String, with json: JSON, ifVersion: Int64?, by actor: Actor) async throws -> Campaign {
    let (before, text) = try standing(id, ifVersion: ifVersion)
    let (document, warnings) = try checked(json)
    if let named = document.id, named != id { throw MessageError.badRequest("\"id\" is \(named), but the campaign is \(id).") }
    switch before.state {
    case .draft: break
    case .published: try Self.checkChange(from: before, to: document)
    case .stopped, .deleted:
      throw MessageError.conflict("The campaign is \(before.state.rawValue) and does not change any more; duplicate it.")
    }
    var after = before
    (after.document, after.warnings, after.by) = (document, warnings, actor.description)
    return try await change(after, from: text, action: before.state == .draft ? "replace" : "change", by: actor)
  }

  private static func checkChange(from before: Campaign, to after: CampaignDocument) throws {
    func others(_ source: JSON) -> [String: JSON] {
      var found: [String: JSON] = [:]
      for member in source.object ?? [] where !["id", "testDevices", "schedule"].contains(member.key) {
        found[member.key] = member.value
      }
      return found
    }
    let (was, now) = (before.document.schedule, after.schedule)
    let isNearer = now.end == was.end || (now.end.map { end in was.end.map { end.seconds < $0.seconds } ?? true } ?? false)
    guard others(before.document.source) == others(after.source), was.start == now.start, was.timeZone == now.timeZone, isNearer
    else {
      throw MessageError.conflict(
        "A published campaign keeps what it says: only \"testDevices\" change, and \"end\" may come nearer. Stop it and duplicate it."
      )
    }
  }

  /// Publishes a draft.
  ///
  /// - `ifVersion`: the version that was looked at; nil for any.
  package func publish(_ id: String, ifVersion: Int64? = nil, by actor: Actor) async throws -> Campaign {
    let (before, text) = try standing(id, ifVersion: ifVersion)
    guard before.state == .draft else {
      throw MessageError.conflict("The campaign is \(before.state.rawValue); only a draft is published. Duplicate it.")
    }
    // What apps can open, and which zones there are, may have changed since.
    let (document, warnings) = try checked(before.document.source)
    let now = clock.now()
    var after = before
    (after.document, after.warnings, after.by, after.state) = (document, warnings, actor.description, .published)
    after.publishedAt = now
    if let end = after.span(in: nil, zones: surroundings.zones).end, end <= now {
      throw MessageError.invalid([CampaignFault("BAD_TIME", at: "schedule.end", "The campaign would be over already.")])
    }
    after.version += 1
    repeat {
      let additions = try stored(Kind.setting, key: Self.additions)
      guard try campaigns().count(where: { $0.state == .published }) < settings.publishedMax else {
        throw MessageError.limit("\(settings.publishedMax) campaigns are published; stop one first.")
      }
      let addition = Self.addition(to: additions)
      if try await keep(after, action: "publish", expecting: .value(text), adding: addition, by: actor) { return after }
      // Another campaign was added meanwhile, and they are counted again; or it was this one that somebody changed.
    } while try stored(Kind.campaign, key: id) == text
    throw MessageError.versionChanged(try campaign(id).version)
  }

  /// Ends a published campaign, for good.
  ///
  /// - `ifVersion`: the version that was looked at; nil for any.
  package func stop(_ id: String, ifVersion: Int64? = nil, by actor: Actor) async throws -> Campaign {
    let (before, text) = try standing(id, ifVersion: ifVersion)
    guard before.state == .published else {
      throw MessageError.conflict("The campaign is \(before.state.rawValue); only a published one is stopped.")
    }
    var after = before
    (after.state, after.stoppedAt, after.by) = (.stopped, clock.now(), actor.description)
    return try await change(after, from: text, action: "stop", by: actor)
  }

  /// Makes a draft that says what another campaign says.
  ///
  /// - `newID`: its id; nil to have one made.
  package func duplicate(_ id: String, as newID: String?, by actor: Actor) async throws -> Campaign {
    let before = try campaign(id)
    guard before.state != .deleted else { throw MessageError.conflict("The campaign is deleted.") }
    let own = (before.document.source.object ?? []).filter { $0.key != "id" }
    let named = newID.map { [JSON.Member(key: "id", value: .string($0))] } ?? []
    return try await create(.object(named + own), by: actor)
  }

  /// Deletes a campaign; its id does not come again, and its counts stay.
  ///
  /// - `ifVersion`: the version that was looked at; nil for any.
  package func delete(_ id: String, ifVersion: Int64? = nil, by actor: Actor) async throws -> Campaign {
    let (before, text) = try standing(id, ifVersion: ifVersion)
    guard before.state != .deleted else { throw MessageError.unknown(id) }
    var after = before
    after.document = CampaignDocument(source: ["name": .string(before.document.name)])
    (after.state, after.deletedAt, after.by, after.warnings) = (.deleted, clock.now(), actor.description, [])
    return try await change(after, from: text, action: "delete", by: actor)
  }

  private func change(_ campaign: Campaign, from text: String, action: String, by actor: Actor) async throws -> Campaign {
    var campaign = campaign
    campaign.version += 1
    guard try await keep(campaign, action: action, expecting: .value(text), by: actor) else {
      throw MessageError.versionChanged(try self.campaign(campaign.id).version)
    }
    return campaign
  }

  private func keep(
    _ campaign: Campaign, action: String, expecting expectation: KeyedRecordChange.Expectation,
    adding addition: KeyedRecordChange? = nil, by actor: Actor
  ) async throws -> Bool {
    let version = CampaignVersion(
      version: campaign.version, at: clock.now(), by: actor.description, action: action, document: campaign.document.source)
    let digits = String(campaign.version)
    let key = "\(campaign.id)/\(String(repeating: "0", count: max(0, 8 - digits.utf8.count)))\(digits)"
    let isKept = try await commit(by: actor) { request in
      request.rows.records = [
        KeyedRecordChange(kind: Kind.campaign, key: campaign.id, value: campaign.stored, expecting: expectation),
        KeyedRecordChange(kind: Kind.version, key: key, value: version.json.compactText),
      ]
      if let addition { request.rows.records.append(addition) }
    }
    guard isKept else { return false }
    try reload()
    if campaign.state != .draft || !campaign.document.testDevices.isEmpty { hub.refresh() }
    return true
  }

  /// What was done to a campaign, the last first.
  package func versions(of id: String) throws -> [CampaignVersion] {
    _ = try campaign(id)
    return try records(Kind.version, beginning: "\(id)/", limit: 1000).reversed().prefix(Self.versionsMax).compactMap {
      CampaignVersion(stored: $0.value)
    }
  }

  // MARK: A file

  /// Brings campaigns to what a file says: creates, replaces drafts, and publishes those with `"publish": true`. What is
  /// published already, and says something else, is named as a conflict and left as it is.
  ///
  /// - `file`: `{"campaigns": [ … ]}`; each has its id.
  /// - `prunes`: whether published campaigns that the file does not have are stopped.
  /// - `isRehearsal`: whether nothing is done.
  /// - Throws: ``MessageError/invalid(_:)`` with everything that is wrong in the whole file, before anything is done.
  package func apply(_ file: JSON, prunes: Bool, isRehearsal: Bool, by actor: Actor) async throws -> [CampaignDifference] {
    let wanted = try checkedFile(file)
    var differences: [CampaignDifference] = []
    for (id, json, isPublished) in wanted {
      differences += try await apply(id, json, publishes: isPublished, isRehearsal: isRehearsal, by: actor)
    }
    guard prunes else { return differences }
    let names = Set(wanted.map(\.0))
    for campaign in try campaigns() where campaign.state == .published && !names.contains(campaign.id) {
      if !isRehearsal { _ = try await stop(campaign.id, by: actor) }
      differences.append(CampaignDifference(id: campaign.id, action: .stop, message: ""))
    }
    return differences
  }

  /// The same, all or nothing: what conflicts is found before anything is done, and then nothing is.
  ///
  /// - Returns: what was done or, if `isApplied` is false, would have been.
  package func applyWhole(_ file: JSON, prunes: Bool, isRehearsal: Bool, by actor: Actor) async throws
    -> (differences: [CampaignDifference], isApplied: Bool)
  {
    let planned = try await apply(file, prunes: prunes, isRehearsal: true, by: actor)
    if isRehearsal || planned.contains(where: { $0.action == .conflict }) { return (planned, false) }
    return (try await apply(file, prunes: prunes, isRehearsal: false, by: actor), true)
  }

  private func checkedFile(_ file: JSON) throws -> [(String, JSON, Bool)] {
    let faults = CampaignFaults()
    guard let reader = DocumentReader(file, at: "", known: ["campaigns"], faults: faults),
      let elements = reader.list("campaigns", count: 0...campaignsMax)
    else { throw MessageError.invalid(faults.refusals.isEmpty ? [Self.noCampaigns] : faults.refusals) }
    var wanted: [(String, JSON, Bool)] = []
    var all = faults.refusals
    for element in elements {
      let (document, found) = CampaignDocument.read(element.json, in: surroundings)
      all += found.refusals.map { CampaignFault($0.code, at: DocumentReader.join(element.path, $0.path), $0.message) }
      guard let document else { continue }
      guard let id = document.id, !wanted.contains(where: { $0.0 == id }) else {
        all.append(CampaignFault("MISSING", at: "\(element.path).id", "Each campaign of a file has an \"id\" of its own."))
        continue
      }
      wanted.append((id, document.source, element.json["publish"]?.bool == true))
    }
    guard all.isEmpty else { throw MessageError.invalid(all) }
    return wanted
  }

  private static let noCampaigns = CampaignFault("MISSING", at: "campaigns", "The file must hold {\"campaigns\": [ … ]}.")

  private func apply(_ id: String, _ json: JSON, publishes: Bool, isRehearsal: Bool, by actor: Actor) async throws
    -> [CampaignDifference]
  {
    var done: [CampaignDifference] = []
    func note(_ action: CampaignDifference.Action, _ message: String = "") {
      done.append(CampaignDifference(id: id, action: action, message: message))
    }
    let text = try stored(Kind.campaign, key: id)
    let standing = text.flatMap { Campaign(id: id, stored: $0, in: surroundings) }
    if let standing {
      let isSame = standing.document.source.saysTheSame(as: json)
      switch standing.state {
      case .draft where !isSame:
        if !isRehearsal { _ = try await replace(id, with: json, ifVersion: standing.version, by: actor) }
        note(.replace)
      case .draft: break
      case .published, .stopped:
        if isSame {
          note(.none)
        } else {
          note(.conflict, "It is \(standing.state.rawValue) and says something else; give the new one another id.")
        }
        return done
      case .deleted:
        note(.conflict, "The id was deleted and does not come again.")
        return done
      }
    } else {
      if !isRehearsal { _ = try await create(json, by: actor) }
      note(.create)
    }
    if publishes {
      if !isRehearsal { _ = try await publish(id, by: actor) }
      note(.publish)
    }
    if done.isEmpty { note(.none) }
    return done
  }
}
