package import TreeModel

/// How far a campaign is. It never goes back.
package enum CampaignState: String, Sendable, Hashable, CaseIterable {
  case draft, published, stopped, deleted
}

/// A campaign as it is kept.
package struct Campaign: Sendable {
  package let id: String
  package internal(set) var state: CampaignState
  /// Raised with every change.
  package internal(set) var version: Int64
  package internal(set) var document: CampaignDocument
  /// Milliseconds since 1970, as all times here.
  package let createdAt: Int64
  package internal(set) var publishedAt: Int64?
  package internal(set) var stoppedAt: Int64?
  package internal(set) var deletedAt: Int64?
  /// Who changed it last, as `Actor.description`.
  package internal(set) var by: String
  package internal(set) var warnings: [CampaignFault]

  init(
    id: String, state: CampaignState, version: Int64, document: CampaignDocument, createdAt: Int64, by: String,
    warnings: [CampaignFault]
  ) {
    self.id = id
    self.state = state
    self.version = version
    self.document = document
    self.createdAt = createdAt
    self.by = by
    self.warnings = warnings
  }

  /// Whether it takes a click to reach the goal; a control has nothing to click.
  func isClicked(in variant: String?) -> Bool {
    document.variants.first { $0.name == variant }?.isControl != true && document.content(of: variant).hasURL
  }

  /// The document with what the server knows of it.
  package var json: JSON {
    let own = (document.source.object ?? []).filter { $0.key != "id" }
    return .object([JSON.Member(key: "id", value: .string(id))] + own + (standing.object ?? []))
  }

  /// State, version and times.
  private var standing: JSON {
    JSON(fields: [
      ("state", .string(state.rawValue)), ("version", .int(version)), ("createdAt", .int(createdAt)),
      ("publishedAt", publishedAt.map(JSON.int)), ("stoppedAt", stoppedAt.map(JSON.int)),
      ("deletedAt", deletedAt.map(JSON.int)),
      ("by", .string(by)), ("warnings", warnings.isEmpty ? JSON?.none : .array(warnings.map(\.json))),
    ])
  }

  /// The stored form.
  var stored: String { JSON(fields: [("document", document.source), ("standing", standing)]).compactText }

  /// Reads ``stored``; nil if it is damaged.
  init?(id: String, stored text: String, in surroundings: CampaignSurroundings) {
    guard let json = try? JSONParser.parse(text), let source = json["document"], let standing = json["standing"],
      let state = standing["state"]?.string.flatMap(CampaignState.init), let version = standing["version"]?.int,
      let createdAt = standing["createdAt"]?.int
    else { return nil }
    // A tombstone keeps no document.
    guard
      let document = state == .deleted
        ? CampaignDocument(source: source) : CampaignDocument.read(source, in: surroundings).document
    else { return nil }
    self.init(
      id: id, state: state, version: version, document: document, createdAt: createdAt, by: standing["by"]?.string ?? "",
      warnings: (standing["warnings"]?.array ?? []).compactMap(CampaignFault.init(warning:)))
    publishedAt = standing["publishedAt"]?.int
    stoppedAt = standing["stoppedAt"]?.int
    deletedAt = standing["deletedAt"]?.int
  }

  /// When it begins and ends, in milliseconds since 1970, for a device in a time zone.
  ///
  /// - `device`: the zone of the device; UTC if it is not known.
  package func span(in device: ZoneRules?, zones: any ZoneReading) -> (start: Int64, end: Int64?) {
    let zone = document.schedule.timeZone.flatMap { zones.zone(named: $0) } ?? device ?? .utc
    let start = document.schedule.start.map { zone.moment(of: $0).milliseconds }
    return (start ?? publishedAt ?? createdAt, document.schedule.end.map { zone.moment(of: $0).milliseconds })
  }
}

/// What was done to a campaign, once.
package struct CampaignVersion: Sendable {
  package let version: Int64
  /// Milliseconds since 1970.
  package let at: Int64
  package let by: String
  /// `create`, `replace`, `publish`, `stop`, `change` or `delete`.
  package let action: String
  /// As it was afterwards.
  package let document: JSON

  package var json: JSON {
    [
      "version": .int(version), "at": .int(at), "by": .string(by), "action": .string(action), "document": document,
    ]
  }

  init(version: Int64, at: Int64, by: String, action: String, document: JSON) {
    self.version = version
    self.at = at
    self.by = by
    self.action = action
    self.document = document
  }

  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let version = json["version"]?.int, let at = json["at"]?.int,
      let action = json["action"]?.string, let document = json["document"]
    else { return nil }
    self.init(version: version, at: at, by: json["by"]?.string ?? "", action: action, document: document)
  }
}

/// What a check of a document found; it is refused if there are faults.
package struct CampaignCheck: Sendable {
  package let faults: [CampaignFault]
  package let warnings: [CampaignFault]
}

/// What `MessageService.apply` does, or would do, to one campaign.
package struct CampaignDifference: Sendable {
  package enum Action: String, Sendable, Hashable {
    case create, replace, publish, stop, none, conflict
  }

  package let id: String
  package let action: Action
  /// Why, where it cannot be done.
  package let message: String

  package var json: JSON {
    JSON(fields: [
      ("id", .string(id)), ("action", .string(action.rawValue)), ("message", message.isEmpty ? JSON?.none : .string(message)),
    ])
  }
}

/// Why something is refused; nothing of it was done.
package enum MessageError: Error, Sendable, CustomStringConvertible {
  /// The document is wrong: everything about it.
  case invalid([CampaignFault])
  /// An argument is wrong.
  case badRequest(String)
  case unknown(String)
  /// A campaign of this id is, or was, there.
  case taken(String)
  /// The campaign's state does not allow it.
  case conflict(String)
  /// Somebody changed it meanwhile; it has this version.
  case versionChanged(Int64)
  /// There are too many.
  case limit(String)
  case settingsInFile
  case unavailable(String)

  /// For people: what is wrong, and what to do.
  package var message: String {
    switch self {
    case .invalid(let faults):
      (faults.first.map { "\($0.path.isEmpty ? "" : "\($0.path): ")\($0.message)" } ?? "The campaign is refused.")
        + (faults.count > 1 ? " And \(faults.count - 1) more." : "")
    case .badRequest(let message), .conflict(let message), .limit(let message), .unavailable(let message): message
    case .unknown(let id): "There is no campaign \(id.prefix(80))."
    case .taken(let id): "The id \(id.prefix(80)) was used before; ids never come again."
    case .versionChanged(let version): "Somebody changed the campaign meanwhile: it has version \(version). Read it again."
    case .settingsInFile: "The configuration file holds the settings of messages; change them there."
    }
  }

  package var description: String { message }
}
