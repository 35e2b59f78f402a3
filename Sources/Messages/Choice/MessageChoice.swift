import StorageCore
import TreeModel

/// Chooses the messages of one client on one look at the store.
struct MessageChoice {
  let service: MessageService
  let snapshot: any Snapshot
  let namespace: NamespaceID
  let mayRead: (Path) -> Bool

  func facts(_ client: MessageClient, instance: MessageInstance, now: Int64, pendingMax: Int) throws -> MessageFacts {
    var account: AccountRecord?
    var inviter: String?
    var pending: [MessageEvent] = []
    if let uid = client.uid {
      account = try snapshot.account(in: namespace, uid: uid)
      if let path = service.referrer.flatMap({ PlayerPath.filled($0, for: uid) }) {
        inviter = try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar.stringValue
      }
      let rows = try MessageService.records(
        MessageEvent.kind, beginning: "\(uid)/", limit: pendingMax, in: namespace, snapshot)
      pending = rows.compactMap { MessageEvent(stored: $0.value) }.filter { $0.isPending(at: now) }
      pending.sort { ($0.at, $0.id) < ($1.at, $1.id) }
    }
    let zone = client.timeZone.flatMap { service.surroundings.zones.zone(named: $0) }
    return MessageFacts(
      client: client, instance: instance, account: account, inviter: inviter, pending: pending, now: now, zone: zone)
  }

  /// The tests that were ordered for an instance.
  func tests(of instance: String, now: Int64) throws -> [(campaign: String, variant: String?)] {
    try MessageService.records(MessageService.Kind.test, beginning: "\(instance)/", limit: 100, in: namespace, snapshot)
      .compactMap { record in
        guard let json = try? JSONParser.parse(record.value), json["until"]?.int ?? 0 > now else { return nil }
        return (String(record.key.dropFirst(instance.count + 1)), json["variant"]?.string)
      }
  }

  func messages(
    _ facts: MessageFacts, tests: [(campaign: String, variant: String?)], offered: [Campaign], max: Int, bytesMax: Int
  ) throws -> [ServedMessage] {
    var served: [ServedMessage] = []
    var bytes = 0
    for (id, variant) in tests {
      guard let text = try snapshot.record(in: namespace, kind: MessageService.Kind.campaign, key: id),
        let campaign = Campaign(id: id, stored: text, in: service.surroundings),
        let message = try message(campaign, judgement(campaign, by: facts), variant: variant, isTest: true)
      else { continue }
      served.append(message)
    }
    for campaign in offered where !served.contains(where: { $0.campaign.id == campaign.id }) {
      guard served.count < max else { break }
      let judgement = try judgement(campaign, by: facts)
      let isTest = campaign.document.testDevices.contains(facts.instance.id)
      guard try isTest || judgement.isEligible(),
        let message = try message(campaign, judgement, variant: nil, isTest: isTest)
      else { continue }
      bytes += campaign.document.bytes
      if bytes > bytesMax { break }
      served.append(message)
    }
    return served
  }

  func judgement(_ campaign: Campaign, by facts: MessageFacts) throws -> MessageJudgement {
    var instances = [facts.instance.id]
    if campaign.document.frequency.isPerPlayer, let uid = facts.client.uid,
      let list = try snapshot.record(in: namespace, kind: MessageInstance.playerKind, key: uid)
    {
      instances = Array(Set(instances + MessageInstance.list(stored: list)))
    }
    let marks = try instances.compactMap { instance in
      try snapshot.record(in: namespace, kind: MessageMark.kind, key: MessageMark.key(instance, campaign.id)).flatMap {
        MessageMark(stored: $0)
      }
    }
    return MessageJudgement(
      campaign: campaign, facts: facts, marks: marks, zones: service.surroundings.zones
    ) { path in
      try snapshot.leaves(in: namespace, under: PathBytes(path), limit: MessageJudgement.leavesMax)
    }
  }

  /// What a campaign shows a client; nil if a value is missing that its texts cannot do without.
  func message(_ campaign: Campaign, _ judgement: MessageJudgement, variant named: String?, isTest: Bool) throws
    -> ServedMessage?
  {
    let (document, facts) = (campaign.document, judgement.facts)
    let variant = named ?? self.variant(of: document, campaign.id, for: facts)
    let content = document.content(of: variant)
    let language = content.language(for: facts.client.language)
    let events = judgement.events
    let values = try values(document, by: facts, event: events.first)
    let known = isTest ? values.merging(Self.examples) { own, _ in own } : values
    let alternative = content.alternative(for: facts.client.language)
    let alt = alternative.flatMap { (try? MessageTemplate($0))?.filled(known, language: language) }
    guard let filled = (content.texts[language] ?? MessageTexts()).filled(known, language: language),
      (alt == nil) == (alternative == nil)
    else { return nil }
    let span = campaign.span(in: facts.zone, zones: service.surroundings.zones)
    let texts = filled.named.map { "\($0.name) \($0.text)" }
    let shown = ([campaign.id, String(campaign.version), variant ?? ""] + texts + events.map(\.id)).joined(separator: "\n")
    return ServedMessage(
      campaign: campaign, variant: variant, isControl: document.variants.first { $0.name == variant }?.isControl ?? false,
      isTest: isTest, content: content, texts: filled, imageAlt: alt, language: language,
      isRightToLeft: WritingDirection.isRightToLeft(language), events: events, start: span.start, end: span.end,
      digest: String(MessageService.hash(shown).prefix(16)))
  }

  /// The values without which a campaign says nothing to a client.
  func missing(_ campaign: Campaign, _ judgement: MessageJudgement) throws -> [String] {
    let (document, facts) = (campaign.document, judgement.facts)
    let content = document.content(of: variant(of: document, campaign.id, for: facts))
    let values = try values(document, by: facts, event: judgement.events.first)
    let asked = facts.client.language
    return content.missing(content.language(for: asked), asked: asked, in: values)
  }

  private func variant(of document: CampaignDocument, _ campaign: String, for facts: MessageFacts) -> String? {
    let instance = facts.instance.id
    return document.variant(for: document.frequency.isPerPlayer ? facts.client.uid ?? instance : instance, campaign)
  }

  /// What templates of a test say where nothing happened yet.
  private static let examples: [String: JSON] = ["amount": 50, "currency": "coins", "balance": 100]

  /// The values of templates: of the event, of the player, of places that the player may read.
  func values(_ document: CampaignDocument, by facts: MessageFacts, event: MessageEvent?) throws -> [String: JSON] {
    var values: [String: JSON] = [:]
    for member in event?.parameters ?? [] { values[member.key] = member.value }
    // A uid is no name for people.
    for name in ["inviter", "invitee"] {
      guard let uid = values[name]?.string else { continue }
      let own = try snapshot.account(in: namespace, uid: uid)?.displayName
      values[name] = own.map(JSON.string)
    }
    if let name = facts.account?.displayName { values["player.name"] = .string(name) }
    guard let uid = facts.client.uid else { return values }
    for (name, pattern) in document.variables {
      guard let path = PlayerPath.place(pattern, uid: uid), mayRead(path) else { continue }
      if let leaf = try snapshot.leaf(in: namespace, at: PathBytes(path)) { values[name] = JSON(leaf.leaf.scalar) }
    }
    return values
  }
}

extension PlayerPath {
  /// A pattern of one capture, whatever its name.
  static func filled(_ pattern: PathPattern, for uid: String) -> Path? { try? pattern.path(filling: [uid]) }
}

extension CampaignDocument {
  /// The variant of an instance, or of a player: the same for ever.
  func variant(for who: String, _ campaign: String) -> String? {
    guard !variants.isEmpty else { return nil }
    var rest = MessageJudgement.share(campaign, for: "variant\n\(who)", of: 100)
    for variant in variants {
      rest -= variant.weight
      if rest < 0 { return variant.name }
    }
    return variants.last?.name
  }
}
