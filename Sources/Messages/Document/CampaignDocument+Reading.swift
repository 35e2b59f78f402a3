import TreeModel

/// What a document is checked against beside itself.
package struct CampaignSurroundings: Sendable {
  package let zones: any ZoneReading
  /// Schemes of URLs that registered apps open.
  package var appSchemes: @Sendable () -> Set<String> = { [] }
  /// Whether links may lead to an address; nil where there is no list.
  package var allowsLink: @Sendable (String) -> Bool? = { _ in nil }

  package init(zones: any ZoneReading) {
    self.zones = zones
  }
}

extension CampaignDocument {
  /// The longest document, in bytes.
  package static let bytesMax = 64 << 10
  /// Members of what the server gives that it may be given back.
  static let readOnly = ["state", "version", "createdAt", "publishedAt", "stoppedAt", "deletedAt", "by", "warnings"]
  private static let members = [
    "id", "name", "layout", "content", "triggers", "schedule", "priority", "audience", "frequency", "data", "conversion",
    "variants", "testDevices", "vars", "dismissOutside", "publish",
  ]

  /// Reads a document.
  ///
  /// - Returns: the document, nil if it is refused, and everything that is wrong or questionable about it.
  static func read(_ json: JSON, in surroundings: CampaignSurroundings) -> (document: CampaignDocument?, faults: CampaignFaults)
  {
    let faults = CampaignFaults()
    let bytes = json.compactText.utf8.count
    guard bytes <= bytesMax else {
      faults.refuse("TOO_LARGE", at: "", "A campaign has at most \(bytesMax >> 10) KiB; shorten its texts.")
      return (nil, faults)
    }
    guard let reader = DocumentReader(json, at: "", known: members + readOnly, faults: faults) else { return (nil, faults) }
    let source = (json.object ?? []).filter { !readOnly.contains($0.key) && $0.key != "publish" }
    var document = CampaignDocument(source: .object(source))
    document.bytes = bytes
    document.readHead(reader)
    document.readContent(reader, in: surroundings)
    document.readTriggers(reader)
    document.readSchedule(reader, zones: surroundings.zones)
    document.audience = MessageAudience(reader, zones: surroundings.zones)
    document.readFrequency(reader)
    document.readAttachments(reader)
    document.readConversion(reader)
    document.readVariables(reader)
    document.readVariants(reader, in: surroundings)
    TemplateChecks(document: document, faults: faults).run()
    return (faults.refusals.isEmpty ? document : nil, faults)
  }

  /// Whether a text can name a campaign or a variant.
  package static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F || $0 == 0x2D
      }
  }

  /// Whether a text can name an event of the app.
  package static func isEventName(_ text: String) -> Bool {
    guard let first = text.utf8.first, (0x61...0x7A).contains(first | 0x20) else { return false }
    return text.utf8.count <= 40
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F }
  }

  /// Whether a text can name an event of the server.
  package static func isServerEventName(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
  }

  private mutating func readHead(_ reader: DocumentReader) {
    id = reader.text("id", length: 1...64)
    if let id, !Self.isID(id) {
      reader.refuse("BAD_VALUE", at: "id", "\"id\" must have letters, digits, \"_\" and \"-\" only.")
    }
    name = reader.text("name", length: 1...100) ?? ""
    if !reader.has("name") { reader.refuse("MISSING", at: "name", "\"name\" is missing: what people call the campaign.") }
    if let text = reader.text("layout", length: 0...40) {
      if let known = MessageLayout(rawValue: text) {
        layout = known
      } else {
        reader.refuse("BAD_VALUE", at: "layout", "\"layout\" must be banner, card, modal or imageOnly.")
      }
    } else if !reader.has("layout") {
      reader.refuse("MISSING", at: "layout", "\"layout\" is missing: banner, card, modal or imageOnly.")
    }
    priority = reader.integer("priority", range: 1...10) ?? 5
    dismissesOutside = reader.flag("dismissOutside") ?? true
    testDevices = reader.texts("testDevices", count: 0...100, length: 64) ?? []
  }

  private mutating func readContent(_ reader: DocumentReader, in surroundings: CampaignSurroundings) {
    guard let value = reader.value("content") else {
      return reader.refuse("MISSING", at: "content", "\"content\" is missing: what the message shows.")
    }
    let checks = ContentReading(layout: layout, surroundings: surroundings, faults: reader.faults)
    content = checks.read(value, at: "content") ?? content
  }

  // MARK: When

  private mutating func readTriggers(_ reader: DocumentReader) {
    guard let elements = reader.list("triggers", count: 1...10) else {
      if !reader.has("triggers") { reader.refuse("MISSING", at: "triggers", "\"triggers\" is missing: what makes it appear.") }
      return
    }
    for element in elements {
      guard
        let trigger = DocumentReader(
          element.json, at: element.path, known: ["on", "event", "server", "where"], faults: reader.faults)
      else { continue }
      if let found = Self.trigger(trigger) { triggers.append(found) }
    }
  }

  private static func trigger(_ reader: DocumentReader) -> MessageTrigger? {
    let kinds = ["on", "event", "server"].filter(reader.has)
    guard kinds.count == 1 else {
      reader.faults.refuse("BAD_VALUE", at: reader.path, "A trigger has exactly one of \"on\", \"event\" and \"server\".")
      return nil
    }
    if kinds[0] == "on" {
      if reader.has("where") { reader.refuse("BAD_VALUE", at: "where", "\"where\" is about the parameters of events.") }
      switch reader.text("on") {
      case "launch": return .launch
      case "foreground": return .foreground
      default:
        reader.refuse("BAD_VALUE", at: "on", "\"on\" must be launch or foreground.")
        return nil
      }
    }
    guard let name = reader.text(kinds[0], length: 0...1000) else { return nil }
    let conditions = parameterConditions(reader)
    if kinds[0] == "server" {
      guard isServerEventName(name) else {
        reader.refuse("BAD_EVENT", at: "server", "An event of the server has 1 to 40 of a-z and \"_\".")
        return nil
      }
      return .server(name, where: conditions)
    }
    guard check(event: name, reader) else { return nil }
    return .event(name, where: conditions)
  }

  private static func check(event name: String, _ reader: DocumentReader) -> Bool {
    guard isEventName(name) else {
      reader.refuse("BAD_EVENT", at: "event", "An event begins with a letter and has at most 40 letters, digits and \"_\".")
      return false
    }
    if let prefix = ["doubloon_", "firebase_", "ga_", "google_"].first(where: { name.lowercased().hasPrefix($0) }) {
      reader.refuse("BAD_EVENT", at: "event", "Events that begin with \(prefix) are reserved.")
      return false
    }
    return true
  }

  private static func parameterConditions(_ parent: DocumentReader) -> [ParameterCondition] {
    guard let reader = parent.object("where", known: nil) else { return [] }
    let names = reader.names
    guard names.count <= 20 else {
      parent.refuse("OUT_OF_RANGE", at: "where", "At most 20 parameters can be looked at.")
      return []
    }
    return names.compactMap { name in
      guard let value = reader.value(name) else {
        reader.refuse("WRONG_TYPE", at: name, "It must be a value, or comparisons.")
        return nil
      }
      return Comparison.read(value, at: reader.place(name), faults: reader.faults).map {
        ParameterCondition(name: name, comparison: $0)
      }
    }
  }

  private mutating func readSchedule(_ parent: DocumentReader, zones: any ZoneReading) {
    guard let reader = parent.object("schedule", known: ["start", "end", "timeZone"]) else { return }
    schedule.timeZone = reader.text("timeZone", length: 1...64)
    var zone: ZoneRules?
    if let name = schedule.timeZone {
      zone = zones.zone(named: name)
      if zone == nil {
        reader.refuse("BAD_TIME", at: "timeZone", "There is no time zone \(name); IANA's names are like Europe/Warsaw.")
      }
    }
    func time(_ name: String) -> LocalTime? {
      guard let text = reader.text(name, length: 0...40) else { return nil }
      guard let time = LocalTime(text) else {
        reader.refuse("BAD_TIME", at: name, "\"\(name)\" must be a local time, such as 2026-12-01T09:00.")
        return nil
      }
      if let zone, !zone.moment(of: time).isPlain {
        reader.faults.warn(
          "CLOCK_CHANGE", at: reader.place(name),
          "The clocks of \(schedule.timeZone ?? "") skip this time or show it twice; the first moment from then on counts.")
      }
      return time
    }
    schedule.start = time("start")
    schedule.end = time("end")
    if let start = schedule.start, let end = schedule.end, end.seconds <= start.seconds {
      reader.refuse("BAD_TIME", at: "end", "\"end\" must be after \"start\".")
    }
  }

  private mutating func readFrequency(_ parent: DocumentReader) {
    guard let reader = parent.object("frequency", known: ["lifetime", "caps", "every", "per"]) else { return }
    frequency.lifetime = reader.integer("lifetime", range: 1...10_000)
    for element in reader.list("caps", count: 0...5) ?? [] {
      guard let cap = DocumentReader(element.json, at: element.path, known: ["count", "days"], faults: reader.faults) else {
        continue
      }
      guard let count = cap.integer("count", range: 1...100), let days = cap.integer("days", range: 1...365) else {
        for name in ["count", "days"] where !cap.has(name) { cap.refuse("MISSING", at: name, "\"\(name)\" is missing.") }
        continue
      }
      frequency.caps.append(MessageFrequency.Cap(count: count, days: days))
    }
    if let every = reader.text("every", length: 1...8) {
      if every.hasSuffix("d"), let days = Int(every.dropLast()), (1...365).contains(days), !reader.has("lifetime"),
        !reader.has("caps")
      {
        frequency.caps = [MessageFrequency.Cap(count: 1, days: days)]
      } else {
        reader.refuse(
          "BAD_FREQUENCY", at: "every", "\"every\" must be like \"3d\", and stands without \"lifetime\" and \"caps\".")
      }
    }
    if let per = reader.text("per", length: 1...20) {
      if !["instance", "player"].contains(per) {
        reader.refuse("BAD_VALUE", at: "per", "\"per\" must be instance or player.")
      }
      frequency.isPerPlayer = per == "player"
    }
  }

  // MARK: The rest

  private mutating func readAttachments(_ parent: DocumentReader) {
    guard let reader = parent.object("data", known: nil) else { return }
    attachments = parent.value("data")?.object ?? []
    if attachments.count > 50 { parent.refuse("OUT_OF_RANGE", at: "data", "\"data\" has at most 50 pairs.") }
    var bytes = 0
    for member in attachments.prefix(51) {
      guard let text = member.value.string else {
        reader.refuse("WRONG_TYPE", at: String(member.key.prefix(64)), "The values of \"data\" are texts.")
        continue
      }
      bytes += member.key.utf8.count + text.utf8.count
      if !(1...64).contains(member.key.utf16.count) || text.utf16.count > 1000 {
        reader.refuse("OUT_OF_RANGE", at: String(member.key.prefix(64)), "A key has 1 to 64 characters, a value at most 1,000.")
      }
    }
    if bytes > 8 << 10 { parent.refuse("OUT_OF_RANGE", at: "data", "\"data\" has at most 8 KiB.") }
  }

  private mutating func readConversion(_ parent: DocumentReader) {
    guard let reader = parent.object("conversion", known: ["event", "server", "days"]) else { return }
    let days = reader.integer("days", range: 1...30) ?? 7
    var server = reader.has("server") ? reader : nil
    if case .object? = reader.value("event") { server = reader.object("event", known: ["server"]) }
    if let server {
      guard let name = server.text("server"), Self.isServerEventName(name) else {
        return server.refuse("BAD_EVENT", at: "server", "An event of the server has 1 to 40 of a-z and \"_\".")
      }
      conversion = MessageConversion(event: name, isServer: true, days: days)
      return
    }
    guard let name = reader.text("event", length: 0...1000) else {
      if !reader.has("event") { reader.refuse("MISSING", at: "event", "\"event\" is missing: what the campaign is for.") }
      return
    }
    if Self.check(event: name, reader) { conversion = MessageConversion(event: name, isServer: false, days: days) }
  }

  private mutating func readVariables(_ parent: DocumentReader) {
    guard let reader = parent.object("vars", known: nil) else { return }
    guard reader.names.count <= 5 else {
      return parent.refuse("OUT_OF_RANGE", at: "vars", "At most 5 places can be read for one message.")
    }
    for name in reader.names {
      guard Self.isEventName(name) else {
        reader.refuse(
          "BAD_VALUE", at: String(name.prefix(60)), "A name begins with a letter and has letters, digits and \"_\".")
        continue
      }
      variables[name] = PlayerPath.read(reader, named: name)
    }
  }

  private mutating func readVariants(_ parent: DocumentReader, in surroundings: CampaignSurroundings) {
    guard let elements = parent.list("variants", count: 2...4) else { return }
    let own = parent.value("content") ?? .object([])
    for element in elements {
      let known = ["name", "weight", "control", "content"]
      guard let reader = DocumentReader(element.json, at: element.path, known: known, faults: parent.faults) else { continue }
      let name = reader.text("name", length: 1...64) ?? ""
      if !Self.isID(name) {
        reader.refuse("BAD_VALUE", at: "name", "\"name\" must have letters, digits, \"_\" and \"-\" only.")
      }
      if variants.contains(where: { $0.name == name }) {
        reader.refuse("BAD_VALUE", at: "name", "Two variants have this name.")
      }
      let weight = reader.integer("weight", range: 1...100)
      if !reader.has("weight") { reader.refuse("MISSING", at: "weight", "\"weight\" is missing: how many of 100 get it.") }
      var content = self.content
      if let changes = reader.value("content") {
        let checks = ContentReading(layout: layout, surroundings: surroundings, faults: parent.faults)
        content = checks.read(own.merging(changes), at: reader.place("content")) ?? content
      }
      variants.append(
        MessageVariant(name: name, weight: weight ?? 0, isControl: reader.flag("control") ?? false, content: content))
    }
    let sum = variants.reduce(0) { $0 + $1.weight }
    if sum != 100 {
      parent.refuse("BAD_WEIGHTS", at: "variants", "The weights of the variants must add up to 100; they are \(sum).")
    }
    if variants.count(where: \.isControl) > 1 {
      parent.refuse("BAD_WEIGHTS", at: "variants", "Only one variant can show nothing (\"control\").")
    }
  }
}

extension JSON {
  /// Whether two documents say the same: members stand in any order, and one that is null is one that is missing.
  func saysTheSame(as other: JSON) -> Bool {
    switch (self, other) {
    case (.object(let own), .object(let others)):
      let mine = own.filter { !$0.value.isNull }
      let theirs = Dictionary(others.filter { !$0.value.isNull }.map { ($0.key, $0.value) }) { first, _ in first }
      return mine.count == theirs.count
        && mine.allSatisfy { member in theirs[member.key].map { member.value.saysTheSame(as: $0) } ?? false }
    case (.array(let own), .array(let others)):
      return own.count == others.count && zip(own, others).allSatisfy { $0.saysTheSame(as: $1) }
    default: return self == other
    }
  }

  /// This object with another's members over its own, and so on below.
  func merging(_ other: JSON) -> JSON {
    guard var members = object, let others = other.object else { return other }
    for member in others {
      if let index = members.firstIndex(where: { $0.key == member.key }) {
        members[index] = JSON.Member(key: member.key, value: members[index].value.merging(member.value))
      } else {
        members.append(member)
      }
    }
    return .object(members)
  }
}
