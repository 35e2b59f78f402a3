package import TreeModel

extension AdminMessages {
  package static let check = Endpoint<NoQuery, Document, Check>(
    .post, "/admin/v1/messages/check", "What is wrong or doubtful about a campaign; nothing is stored.")
  package static let apply = Endpoint<NoQuery, ApplyOrder, Applied>(
    .post, "/admin/v1/messages/apply",
    "Takes a file as the wanted state: creates, replaces drafts, publishes; never changes what is published.", access: .admin)
  package static let preview = Endpoint<NoQuery, PreviewOrder, Preview>(
    .post, "/admin/v1/messages/{id}/preview", "How a campaign appears, in a language, on a platform, with an event's values.",
    captures: [campaign])
  package static let previewDocument = Endpoint<NoQuery, DocumentPreviewOrder, Preview>(
    .post, "/admin/v1/messages/preview", "The same for a campaign that is not kept; nothing is stored.")
  package static let test = Endpoint<NoQuery, TestOrder, Campaign>(
    .post, "/admin/v1/messages/{id}/test",
    "Shows a campaign once on these devices, before all others.",
    access: .support, captures: [campaign])

  /// What a document is worth.
  package struct Check: AdminValue {
    /// Whether it would be taken.
    package var sound: Bool
    package var faults: [Fault]
    package var warnings: [Fault]

    package init(sound: Bool, faults: [Fault], warnings: [Fault]) {
      self.sound = sound
      self.faults = faults
      self.warnings = warnings
    }

    package static let notes: [String: FieldNote] = [
      "sound": .text("whether it would be taken"), "faults": .text("why not, all of it"), "warnings": .text("what is doubtful"),
    ]
  }

  /// A file of campaigns as the wanted state.
  package struct ApplyOrder: AdminValue {
    /// Documents, each with an id; those with `"publish": true` are published.
    package var campaigns: [JSON]
    package var prune: Bool?
    package var dryRun: Bool?
    package var reason: String?

    package init(campaigns: [JSON], prune: Bool? = nil, dryRun: Bool? = nil, reason: String? = nil) {
      self.campaigns = campaigns
      self.prune = prune
      self.dryRun = dryRun
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "campaigns": .text("documents, each with an id; those with \"publish\": true are published"),
      "prune": .text("whether published campaigns that are not in the file are stopped, and drafts deleted"),
      "dryRun": .text("whether only the difference is told"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What a file changes about a campaign.
  package enum ApplyStep: String, AdminWord {
    case create
    case replace
    case publish
    case stop
    /// It is as the file says.
    case none
    /// It is published, and the file says something else.
    case conflict
  }

  /// The difference between the file and what is kept.
  package struct Difference: AdminValue {
    package var id: String
    package var action: ApplyStep
    package var message: String

    package init(id: String, action: ApplyStep, message: String) {
      self.id = id
      self.action = action
      self.message = message
    }

    package static let notes: [String: FieldNote] = [
      "message": .text("what differs, or what to do about a conflict")
    ]
  }

  /// What came of a file.
  package struct Applied: AdminValue {
    package var differences: [Difference]
    /// Whether the differences were removed; false for a dry run.
    package var applied: Bool

    package init(differences: [Difference], applied: Bool) {
      self.differences = differences
      self.applied = applied
    }

    package static let notes: [String: FieldNote] = [
      "differences": .text("one for each campaign of the file, and for each that is pruned"),
      "applied": .text("whether the differences were removed; false for a dry run"),
    ]
  }

  /// How a campaign is to be looked at.
  package struct PreviewOrder: AdminValue {
    package var locale: String?
    package var variant: String?
    package var params: NamedValues<JSON>?
    /// The player whose values the texts have, beside those of `params`.
    package var uid: String?
    package var platform: String?
    /// Of the screen, in points.
    package var width: Int64?

    package init(
      locale: String? = nil, variant: String? = nil, params: NamedValues<JSON>? = nil, uid: String? = nil,
      platform: String? = nil, width: Int64? = nil
    ) {
      self.locale = locale
      self.variant = variant
      self.params = params
      self.uid = uid
      self.platform = platform
      self.width = width
    }

    package static let notes: [String: FieldNote] = previewNotes
  }

  /// A document to look at.
  package struct DocumentPreviewOrder: AdminValue {
    package var campaign: JSON
    package var locale: String?
    package var variant: String?
    package var params: NamedValues<JSON>?
    /// The player whose values the texts have, beside those of `params`.
    package var uid: String?
    package var platform: String?
    /// Of the screen, in points.
    package var width: Int64?

    /// The same without the document.
    package var manner: PreviewOrder {
      PreviewOrder(locale: locale, variant: variant, params: params, uid: uid, platform: platform, width: width)
    }

    package static let notes: [String: FieldNote] = previewNotes.merging([
      "campaign": .only(.object([]), text: "a campaign's document")
    ]) { _, new in new }
  }

  private static let previewNotes: [String: FieldNote] = [
    "locale": .only(.filled, text: "a language: pl, pt-BR; the campaign's default if it is not given"),
    "variant": .only(.filled, text: "the name of a variant; the first if it is not given"),
    "params": .only(.object([]), text: "values of the event, for texts with {{name}}"),
    "uid": .only(
      .form(JSONSchema.keyForm),
      text: "a player: the texts have the player's values, those that the security rules let the player read"),
    "platform": .only(.filled, text: "ios, android, web: a warning tells if the campaign does not mean it"),
    "width": .only(.integer(200...4000), text: "of the screen, in points: what is laid out, and which picture of a card"),
  ]

  /// How a campaign appears.
  package struct Preview: AdminValue {
    /// What apps draw; nil where there is nothing to draw, and ``faults`` say why.
    package var view: JSON?
    /// The same as a page that stands alone.
    package var html: String?
    /// Names of values that a text needs and that were not given: without them the message is withheld.
    package var missing: [String]
    package var faults: [Fault]
    package var warnings: [Fault]

    package init(view: JSON?, html: String?, missing: [String], faults: [Fault], warnings: [Fault]) {
      self.view = view
      self.html = html
      self.missing = missing
      self.faults = faults
      self.warnings = warnings
    }

    package static let notes: [String: FieldNote] = [
      "view": .only(
        .object([]), text: "what apps draw: layout, title, body, images, buttons, colors, direction, timing"),
      "html": .text("the same as a page that stands alone"),
      "missing": .text("values that a text needs and that were not given: without them it is withheld"),
      "faults": .text("why there is nothing to draw"), "warnings": .text("what is doubtful about the document"),
    ]
  }

  /// Where a campaign is to be tried.
  package struct TestOrder: AdminValue {
    package var devices: [String]
    package var variant: String?

    package init(devices: [String], variant: String? = nil) {
      self.devices = devices
      self.variant = variant
    }

    package static let notes: [String: FieldNote] = [
      "devices": .text("instance ids; GET /admin/v1/messages/devices finds them"),
      "variant": .only(.filled, text: "the name of a variant"),
    ]
  }
}
