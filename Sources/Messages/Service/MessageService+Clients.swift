package import StorageCore
package import TreeModel

extension MessageService {
  /// Messages of one answer, and their bytes.
  private static let messagesMax = 50
  private static let bytesMax = 256 << 10
  /// Events that one answer looks at.
  static let waitingMax = 200

  /// What a client gets now. Its instance is noted, and what it gets is counted.
  ///
  /// - `client`: what it says of itself; its player by the ID token.
  /// - `mayRead`: whether the player may read a place of the tree.
  package func serve(_ client: MessageClient, mayRead: @escaping (Path) -> Bool) async throws -> MessageAnswer {
    let known = try authenticated(client.instance, token: client.token)
    let instance = try await meet(client, as: known)
    let now = clock.now()
    var tests: [(campaign: String, variant: String?)] = []
    var served: [ServedMessage] = []
    var pending: [MessageEvent] = []
    _ = try read { snapshot, namespace in
      let choice = MessageChoice(service: self, snapshot: snapshot, namespace: namespace, mayRead: mayRead)
      let facts = try choice.facts(client, instance: instance, now: now, pendingMax: Self.waitingMax)
      pending = facts.pending
      tests = try choice.tests(of: instance.id, now: now)
      served = try choice.messages(facts, tests: tests, offered: offered, max: Self.messagesMax, bytesMax: Self.bytesMax)
    }
    if !tests.isEmpty {
      // A test is shown once for each order.
      let gone = tests.map { KeyedRecordChange(kind: Kind.test, key: "\(instance.id)/\($0.campaign)", value: nil) }
      try await commit { $0.rows.records = gone }
    }
    countServed(
      served.filter { !$0.isTest }.map {
        MessageCountKey(campaign: $0.campaign.id, time: now, variant: $0.variant, kind: .served)
      })
    let settings = settings
    return MessageAnswer(messages: served, pending: pending, settings: settings, expires: now + settings.fetchInterval)
  }

  /// Why an instance, or a player, gets a campaign or does not: each condition in the order in which it is judged.
  ///
  /// - `mayRead`: whether a player may read a place of the tree.
  package func explain(
    _ id: String, instance named: String?, uid: String?, mayRead: @escaping (Path, _ uid: String) -> Bool
  ) throws -> [MessageCondition] {
    let campaign = try campaign(id)
    let now = clock.now()
    var instance = MessageInstance(id: named ?? "none", at: now)
    if let named {
      guard let known = try self.instance(named) else {
        throw MessageError.badRequest("There is no instance \(named.prefix(64)).")
      }
      instance = known
    } else if let uid, let last = try devices(of: uid, limit: 1).first {
      instance = last
    }
    var client = MessageClient(instance: instance.id)
    (client.appID, client.platform, client.uid) = (instance.appID, instance.platform, uid ?? instance.uid)
    func known(_ text: String) -> String? { text.isEmpty ? nil : text }
    (client.language, client.timeZone) = (known(instance.language), known(instance.timeZone))
    (client.appVersion, client.osVersion, client.isOwn) = (known(instance.appVersion), known(instance.osVersion), true)
    let player = client.uid
    let conditions = try read { snapshot, namespace in
      let choice = MessageChoice(service: self, snapshot: snapshot, namespace: namespace) { path in
        player.map { mayRead(path, $0) } ?? false
      }
      let facts = try choice.facts(client, instance: instance, now: now, pendingMax: Self.waitingMax)
      let judgement = try choice.judgement(campaign, by: facts)
      let conditions = try judgement.conditions()
      let message = try choice.message(campaign, judgement, variant: nil, isTest: false)
      // The language of what is shown, or the values without which nothing is.
      let language = message.map { JSON.string($0.language) }
      let texts = try language ?? .array(choice.missing(campaign, judgement).map(JSON.string))
      return conditions + [MessageCondition(name: "texts", value: texts, holds: message != nil)]
    }
    return conditions ?? []
  }

  // MARK: Reports

  /// What one instance may report in a day: what is beyond is not counted.
  package static let reportsPerDay: Int64 = 2000
  /// How long it is remembered what was reported, in milliseconds.
  static let reportMemory: Int64 = 14 * 86_400_000

  /// Takes reports, in one commit. What came before, what is about unknown campaigns or instances, and what is beyond the day's
  /// limit is left out.
  ///
  /// - Returns: how many were counted.
  @discardableResult
  package func take(_ reports: [MessageReport]) async throws -> Int {
    let now = clock.now()
    var known: [(MessageReport, Campaign, event: MessageEvent?)] = []
    for report in reports {
      guard let instance = try instance(report.instance), CampaignDocument.isID(report.campaign),
        let campaign = try? campaign(report.campaign)
      else { continue }
      known.append((report, campaign, try told(by: report, campaign, to: instance.uid, now: now)))
    }
    countUnknown(reports.count - known.count)
    guard !known.isEmpty else { return 0 }
    let taking = ReportDecision(reports: known, now: now)
    try await commit { $0.decision = taking }
    let counted = taking.counted
    count(counted)
    return counted.count
  }

  /// The event that a display has told the player: the one that the app names, or the oldest that waits for the campaign.
  private func told(by report: MessageReport, _ campaign: Campaign, to uid: String?, now: Int64) throws -> MessageEvent? {
    guard report.kind == .impression || report.kind == .control, let uid, !campaign.document.serverTriggers.isEmpty else {
      return nil
    }
    if let id = report.event {
      return try stored(MessageEvent.kind, key: "\(uid)/\(id)").flatMap { MessageEvent(stored: $0) }
    }
    return try events(of: uid).first { event in
      event.isPending(at: now) && campaign.document.serverTriggers.contains { event.fires($0.name, where: $0.conditions) }
    }
  }

  /// Notes events of an app that campaigns have as their goal. Whether the instance is who it says is asked before.
  package func convert(_ names: [String], instance: String) async throws {
    let goals = offered.filter { campaign in
      campaign.document.conversion.map { !$0.isServer && names.contains($0.event) } ?? false
    }
    guard !goals.isEmpty else { return }
    let converting = RecordDecision { session, namespace, time throws(StorageError) in
      let marks = MessageMarks(session: session, namespace: namespace, time: time)
      for campaign in goals { try marks.convert(campaign, instance: instance) }
    }
    try await commit { $0.decision = converting }
  }

  // MARK: Events

  /// Events of one player that are looked at.
  private static let eventsMax = 1000

  /// What happened to a player, as far as it is kept, oldest first.
  package func events(of uid: String) throws -> [MessageEvent] {
    guard (try? Key(uid)) != nil else { return [] }
    let rows = try [MessageEvent.kind, MessageEvent.toldKind].flatMap { kind in
      try records(kind, beginning: "\(uid)/", limit: Self.eventsMax)
    }
    return rows.compactMap { MessageEvent(stored: $0.value) }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// Raises an event for a player by hand.
  ///
  /// - `parameters`: at most 20 scalars.
  /// - `once`: makes a repetition harmless; nil for another event each time.
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

  /// Rows that are looked at, and removed, at once.
  private static let prunePage = 1000

  /// Removes events whose time is over, reports that nobody repeats any more, and instances that do not come.
  func prune() async throws {
    let now = clock.now()
    let oldest = now - settings.instanceDays * 86_400_000
    try await prune(MessageEvent.kind) { MessageEvent(stored: $0).map { $0.expires <= now } ?? true }
    // What was told is remembered for longer, so that a function's event that is replayed months later tells nothing twice.
    try await prune(MessageEvent.toldKind) { MessageEvent(stored: $0).map { $0.shownAt ?? $0.at <= oldest } ?? true }
    try await prune(Kind.log) { Int64($0).map { $0 <= now } ?? true }
    var last: String?
    repeat {
      let page = try page(of: MessageInstance.kind, after: last)
      for instance in page.compactMap({ MessageInstance(stored: $0.value) }) where instance.lastSeen < oldest {
        try Task.checkCancellation()
        _ = try await removeInstance(instance.id)
      }
      last = page.count == Self.prunePage ? page.last?.key : nil
    } while last != nil
  }

  /// Removes the records of a kind that are over. One that changes meanwhile keeps its page for the next round.
  private func prune(_ kind: String, where isOver: (String) -> Bool) async throws {
    var last: String?
    repeat {
      let page = try page(of: kind, after: last)
      let gone = page.filter { isOver($0.value) }.map {
        KeyedRecordChange(kind: kind, key: $0.key, value: nil, expecting: .value($0.value))
      }
      if !gone.isEmpty { try await commit { $0.rows.records = gone } }
      last = page.count == Self.prunePage ? page.last?.key : nil
    } while last != nil
  }

  private func page(of kind: String, after last: String?) throws -> [KeyedRecord] {
    // A server that stops does not wait for what the next start does as well.
    try Task.checkCancellation()
    return try read { snapshot, namespace in
      try snapshot.records(in: namespace, kind: kind, after: last, isDescending: false, limit: Self.prunePage)
    } ?? []
  }
}

/// What administrators look at: how a message appears, and what came of it.
extension MessageService {
  /// What a message shows, as a document for renderers, with what is questionable about it.
  ///
  /// - `document`: a whole document, stored or not.
  /// - `mayRead`: whether the player of the request may read a place of the tree.
  /// - Throws: ``MessageError/invalid(_:)``.
  package func preview(_ json: JSON, request: PreviewRequest, mayRead: @escaping (Path) -> Bool) throws -> JSON {
    let (document, faults) = CampaignDocument.read(json, in: surroundings)
    guard let document else { throw MessageError.invalid(faults.refusals) }
    if let variant = request.variant, !document.variants.contains(where: { $0.name == variant }) {
      throw MessageError.badRequest("The campaign has no variant \(variant.prefix(64)).")
    }
    let content = document.content(of: request.variant ?? document.variants.first?.name)
    let language = content.language(for: request.locale)
    var values = try request.uid.map { try self.values(of: document, for: $0, mayRead: mayRead) } ?? [:]
    for member in request.parameters { values[member.key] = member.value }
    let missing = content.missing(language, asked: request.locale, in: values)
    // Where a value is missing the preview shows its name.
    for name in missing { values[name] = .string("{\(name)}") }
    let known = values
    let model = MessageModel(
      document: document, content: content, language: language, locale: request.locale, settings: settings,
      width: request.width
    ) { text in (try? MessageTemplate(text))?.filled(known, language: language) ?? text }
    let warnings = faults.warnings + Self.platformWarnings(document, request.platform)
    return JSON(fields: [
      ("message", model.json), ("missing", missing.isEmpty ? JSON?.none : .array(missing.map(JSON.string))),
      ("warnings", .array(warnings.map(\.json))),
    ])
  }

  /// What the texts of a document say to a player now: by the oldest event that waits for it, by the account, and by places that
  /// the player may read.
  private func values(of document: CampaignDocument, for uid: String, mayRead: @escaping (Path) -> Bool) throws
    -> [String: JSON]
  {
    let now = clock.now()
    var client = MessageClient(instance: "none")
    client.uid = uid
    let values = try read { [client] snapshot, namespace in
      let choice = MessageChoice(service: self, snapshot: snapshot, namespace: namespace, mayRead: mayRead)
      let facts = try choice.facts(
        client, instance: MessageInstance(id: client.instance, at: now), now: now, pendingMax: Self.waitingMax)
      let event = facts.pending.first { event in
        document.serverTriggers.contains { event.fires($0.name, where: $0.conditions) }
      }
      return try choice.values(document, by: facts, event: event)
    }
    return values ?? [:]
  }

  private static func platformWarnings(_ document: CampaignDocument, _ platform: String?) -> [CampaignFault] {
    guard let platform, let wanted = document.audience.platforms, !wanted.contains(platform.lowercased()) else { return [] }
    let message =
      "Devices of the platform \(platform.prefix(40)) do not get it, but those of \(wanted.joined(separator: ", "))."
    return [CampaignFault("NOT_FOR_PLATFORM", at: "audience.platforms", message)]
  }

  /// Days that one look at results goes back.
  package static let resultDaysMax = 400

  /// What became of a campaign: by day and variant, together, and how often a display led to a click.
  ///
  /// - `days`: how far back; today is one.
  package func results(of id: String, days: Int) async throws -> JSON {
    _ = try campaign(id)
    try await flush()
    let first = clock.now() / 86_400_000 - Int64(days) + 1
    var rows: [(MessageCountKey, Int64)] = []
    _ = try read { snapshot, namespace in
      var last = "\(id)/"
      while true {
        let page = try snapshot.records(
          in: namespace, kind: MessageMarks.countKind, after: last, isDescending: false, limit: 1000)
        for record in page where record.key.utf8.starts(with: "\(id)/".utf8) {
          guard let key = MessageCountKey(record.key), key.day >= first, let count = Int64(record.value) else { continue }
          rows.append((key, count))
        }
        guard page.count == 1000, let end = page.last?.key, end.utf8.starts(with: "\(id)/".utf8) else { return }
        last = end
      }
    }
    return MessageResults.json(id, rows: rows)
  }
}
