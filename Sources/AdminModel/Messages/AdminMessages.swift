package import TreeModel

/// In-app messages: campaigns, what came of them, devices, events of players that wait for one, settings.
package enum AdminMessages {
  package static let list = Endpoint<ListQuery, NoBody, List>(
    .get, "/admin/v1/messages", "Campaigns of in-app messages, in the order in which they are shown.")
  package static let create = Endpoint<NoQuery, Document, Campaign>(
    .post, "/admin/v1/messages", "Creates a campaign as a draft; every fault is told at once, with its place.", access: .admin)
  package static let show = Endpoint<NoQuery, NoBody, Campaign>(
    .get, "/admin/v1/messages/{id}", "One campaign.", captures: [campaign])
  package static let put = Endpoint<NoQuery, Document, Campaign>(
    .put, "/admin/v1/messages/{id}",
    "Replaces a draft; of a published campaign only the test devices change, and its end moves nearer.", access: .admin,
    captures: [campaign])
  package static let delete = Endpoint<DeleteQuery, NoBody, Campaign>(
    .delete, "/admin/v1/messages/{id}", "Deletes a campaign: its counts stay, its id is never used again.", access: .admin,
    captures: [campaign])
  package static let publish = Endpoint<NoQuery, StepOrder, Campaign>(
    .post, "/admin/v1/messages/{id}/publish", "Publishes a draft: from now on it is shown to those whom it is for.",
    access: .admin, captures: [campaign])
  package static let stop = Endpoint<NoQuery, StepOrder, Campaign>(
    .post, "/admin/v1/messages/{id}/stop", "Stops a published campaign, for good.", access: .admin, captures: [campaign])
  package static let duplicate = Endpoint<NoQuery, DuplicateOrder, Campaign>(
    .post, "/admin/v1/messages/{id}/duplicate", "Makes a draft that says the same, under an id of its own.", access: .admin,
    captures: [campaign])

  package static let versions = Endpoint<NoQuery, NoBody, VersionList>(
    .get, "/admin/v1/messages/{id}/versions", "What a campaign said and when it changed, newest first; at most 50.",
    captures: [campaign])

  static let campaign = EndpointParameter.capture("id", text: "A campaign's id.")

  /// How far a campaign came.
  package enum State: String, AdminWord {
    case draft
    case published
    case stopped
    case deleted
  }

  /// Which campaigns are wanted.
  package struct ListQuery: AdminValue {
    package var state: State?
    package var q: String?
    package var limit: Int64?
    package var cursor: String?

    package init(state: State? = nil, q: String? = nil, limit: Int64? = nil, cursor: String? = nil) {
      self.state = state
      self.q = q
      self.limit = limit
      self.cursor = cursor
    }

    package static let notes: [String: FieldNote] = [
      "state": .text("Only campaigns in this state. Deleted ones are not listed, but can be asked for by their id."),
      "q": .only(.filled, text: "Only campaigns in whose id or name this text is; capitals do not count."),
      "limit": .limit(50),
      "cursor": .cursor,
    ]
  }

  /// A campaign in a listing.
  package struct Row: AdminValue {
    package var id: String
    package var name: String
    package var layout: String
    package var state: State
    package var version: Int64
    package var priority: Int64
    /// What makes it appear, each in one word.
    package var triggers: [String]
    /// Whether it is published and its time is over.
    package var ended: Bool
    package var createdAt: Timestamp
    package var publishedAt: Timestamp?
    package var stoppedAt: Timestamp?

    package init(
      id: String, name: String, layout: String, state: State, version: Int64, priority: Int64, triggers: [String], ended: Bool,
      createdAt: Timestamp, publishedAt: Timestamp?, stoppedAt: Timestamp?
    ) {
      self.id = id
      self.name = name
      self.layout = layout
      self.state = state
      self.version = version
      self.priority = priority
      self.triggers = triggers
      self.ended = ended
      self.createdAt = createdAt
      self.publishedAt = publishedAt
      self.stoppedAt = stoppedAt
    }

    package static let notes: [String: FieldNote] = [
      "triggers": .text("what makes it appear: launch, foreground, the name of an event, server:NAME"),
      "ended": .text("whether it is published and its time is over"),
    ]
  }

  /// Campaigns, first those that are shown first.
  package struct List: AdminValue {
    package var campaigns: [Row]
    package var next: String?

    package init(campaigns: [Row], next: String? = nil) {
      self.campaigns = campaigns
      self.next = next
    }
  }

  /// A campaign as people write it. What the server alone says (`state`, `createdAt`, …) may stand in it and is passed over, so
  /// that what was shown can be sent back.
  package struct Document: AdminValue {
    package var id: JSON?
    package var name: JSON?
    package var layout: JSON?
    package var content: JSON?
    package var triggers: JSON?
    package var schedule: JSON?
    package var priority: JSON?
    package var audience: JSON?
    package var frequency: JSON?
    package var vars: JSON?
    package var data: JSON?
    package var conversion: JSON?
    package var variants: JSON?
    package var testDevices: JSON?
    package var dismissOutside: JSON?
    package var version: JSON?
    package var state: JSON?
    package var ended: JSON?
    package var createdAt: JSON?
    package var publishedAt: JSON?
    package var stoppedAt: JSON?
    package var deletedAt: JSON?
    package var by: JSON?
    package var warnings: JSON?
    package var publish: JSON?

    /// What only the server says.
    package static let readOnly: Set<String> = [
      "version", "state", "ended", "createdAt", "publishedAt", "stoppedAt", "deletedAt", "by", "warnings",
    ]

    package static let notes: [String: FieldNote] = documentNotes.merging([
      "version": .text("the version that is replaced; refused with 412 if there is a newer one"),
      "publish": .text("of a file that is applied; passed over elsewhere"),
      "state": .text("passed over, as are ended, createdAt, publishedAt, stoppedAt, deletedAt, by and warnings"),
    ]) { _, new in new }
  }

  fileprivate static let documentNotes: [String: FieldNote] = [
    "id": .text("1 to 64 letters, digits, _ and -; the server makes one"),
    "name": .text("what listings call it; 1 to 100 characters"),
    "layout": .text("banner, card, modal or imageOnly"),
    "content": .text("texts by language, pictures, colours, actions"),
    "triggers": .text("1 to 10 of {\"on\":\"launch\"}, {\"on\":\"foreground\"}, {\"event\":NAME}, {\"server\":NAME}"),
    "schedule": .text("start, end, timeZone; local times"),
    "priority": .text("1 is shown first, 10 last; 5 if it is not given"),
    "audience": .text("for whom; everybody if it is not given"),
    "frequency": .text("how often: lifetime, caps, every, per"),
    "vars": .text("paths of the tree that texts may name"),
    "data": .text("texts that the app gets with it"),
    "conversion": .text("what counts as success: event, days"),
    "variants": .text("2 to 4 versions of the content, with weights that add up to 100"),
    "testDevices": .text("instance ids that get it as a test"),
    "dismissOutside": .text("false: only its buttons close it"),
  ]

  /// A campaign as it is kept. Of a deleted one only the name is left, and what the server says.
  package struct Campaign: AdminValue {
    package var id: String
    package var name: String
    package var layout: String?
    package var content: JSON?
    package var triggers: JSON?
    package var schedule: JSON?
    package var priority: Int64?
    package var audience: JSON?
    package var frequency: JSON?
    package var vars: JSON?
    package var data: JSON?
    package var conversion: JSON?
    package var variants: JSON?
    package var testDevices: [String]?
    package var dismissOutside: Bool?
    package var version: Int64
    package var state: State
    package var ended: Bool
    package var createdAt: Timestamp
    package var publishedAt: Timestamp?
    package var stoppedAt: Timestamp?
    package var deletedAt: Timestamp?
    package var by: String
    package var warnings: [Fault]

    package static let notes: [String: FieldNote] = documentNotes.merging([
      "version": .text("goes up with each change; send it back with the next one"),
      "ended": .text("whether it is published and its time is over"),
      "by": .text("who changed it last"),
      "warnings": .text("what is doubtful about it"),
    ]) { _, new in new }
  }

  /// A campaign as it was.
  package struct Version: AdminValue {
    package var version: Int64
    package var at: Timestamp
    package var by: String
    package var action: String
    package var document: JSON

    package static let notes: [String: FieldNote] = [
      "by": .text("who did it"),
      "action": .only(.choice(["create", "replace", "publish", "stop", "change", "delete"])),
      "document": .text("what it said then"),
    ]
  }

  /// What a campaign said, newest first.
  package struct VersionList: AdminValue {
    package var versions: [Version]
  }

  /// What is wrong or doubtful about a document.
  package struct Fault: AdminValue {
    package var code: String
    package var path: String
    package var message: String

    package init(code: String, path: String, message: String) {
      self.code = code
      self.path = path
      self.message = message
    }

    package static let notes: [String: FieldNote] = [
      "code": .text("a word for programs: LOW_CONTRAST"), "path": .text("where: content.texts.en.title"),
    ]
  }

  /// What is deleted, and why.
  package struct DeleteQuery: AdminValue {
    package var version: Int64?
    package var reason: String?

    package init(version: Int64? = nil, reason: String? = nil) {
      self.version = version
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "version": .text("The version that was looked at; refused with 412 if there is a newer one."),
      "reason": .only(.filled, text: "Why, for the record."),
    ]
  }

  /// A step to the next state.
  package struct StepOrder: AdminValue {
    package var version: Int64?
    package var reason: String?

    package init(version: Int64? = nil, reason: String? = nil) {
      self.version = version
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "version": .text("the version that was looked at; refused with 412 if there is a newer one"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What a copy is called.
  package struct DuplicateOrder: AdminValue {
    package var id: String?
    package var name: String?

    package init(id: String? = nil, name: String? = nil) {
      self.id = id
      self.name = name
    }

    package static let notes: [String: FieldNote] = [
      "id": .only(.filled, text: "the copy's id; the server makes one"),
      "name": .only(.filled, text: "the copy's name; the same if it is not given"),
    ]
  }
}
