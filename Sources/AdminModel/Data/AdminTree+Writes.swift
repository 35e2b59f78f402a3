package import TreeModel

extension AdminTree {
  /// A write into the tree, with what it depends on and why it is made.
  package struct WriteOrder: AdminValue {
    package var path: String
    package var value: JSON?
    package var ifRevision: Int64?
    package var triggers: Bool?
    /// Why, for the record.
    package var reason: String

    package init(path: String, value: JSON? = nil, ifRevision: Int64? = nil, triggers: Bool? = nil, reason: String) {
      self.path = path
      self.value = value
      self.ifRevision = ifRevision
      self.triggers = triggers
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "value": .text("what shall stand there; for PATCH an object of paths below and their values; none for DELETE"),
      "ifRevision": .text("refused with 409 if something at the path or below changed after this revision"),
      "triggers": .text("whether functions see the change; true if it is not given"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What became of a write.
  package struct Written: AdminValue {
    /// Of the tree after it.
    package var revision: Int64
    /// False where everything stood there already.
    package var changed: Bool
    /// How many it made.
    package var events: Int64

    package init(revision: Int64, changed: Bool, events: Int64) {
      self.revision = revision
      self.changed = changed
      self.events = events
    }

    package static let notes: [String: FieldNote] = [
      "revision": .text("of the tree after it"),
      "changed": .text("false where everything stood there already"),
      "events": .text("how many it made"),
    ]
  }

  /// How a write would be sent.
  package enum Method: String, AdminWord, Hashable {
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// A write that is only tried.
  package struct PreviewOrder: AdminValue {
    package var path: String
    package var method: Method
    package var value: JSON?
    package var ifRevision: Int64?
    package var triggers: Bool?
    /// As whom the rules are asked, too.
    package var uid: String?

    package init(
      path: String, method: Method, value: JSON? = nil, ifRevision: Int64? = nil, triggers: Bool? = nil, uid: String? = nil
    ) {
      self.uid = uid
      self.path = path
      self.method = method
      self.value = value
      self.ifRevision = ifRevision
      self.triggers = triggers
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "method": .text("how it would be sent"),
      "value": .text("what would stand there; for PATCH an object of paths below and their values; none for DELETE"),
      "ifRevision": .text("refused with 409 if something at the path or below changed after this revision"),
      "triggers": .text("whether functions would see the change; true if it is not given"),
      "uid": .only(.form(JSONSchema.keyForm), text: "the player as whom the rules are asked, too"),
    ]
  }

  /// An event that a write would make.
  package struct ExpectedEvent: AdminValue {
    package var path: String
    package var kind: AdminEvents.Kind
    /// The functions that would run for it.
    package var functions: [String]

    package init(path: String, kind: AdminEvents.Kind, functions: [String]) {
      self.path = path
      self.kind = kind
      self.functions = functions
    }

    package static let notes: [String: FieldNote] = ["functions": .text("that would run for it")]
  }

  /// A balance that a write would change, which the ledger would take note of.
  package struct Adjustment: AdminValue {
    package var path: String
    package var account: String
    package var unit: String
    package var before: Int64
    package var after: Int64

    package init(path: String, account: String, unit: String, before: Int64, after: Int64) {
      self.path = path
      self.account = account
      self.unit = unit
      self.before = before
      self.after = after
    }

    package static let notes: [String: FieldNote] = ["before": .only(.int64), "after": .only(.int64)]
  }

  /// What the rules would say to a player.
  package struct Verdict: AdminValue {
    package var uid: String
    package var allowed: Bool
    /// Of the rule that decides, in the rules' source; none where no rule is on the way.
    package var line: Int64?

    package init(uid: String, allowed: Bool, line: Int64? = nil) {
      self.uid = uid
      self.allowed = allowed
      self.line = line
    }

    package static let notes: [String: FieldNote] = [
      "line": .text("of the rule that decides, in the rules' source; none where no rule is on the way")
    ]
  }

  /// What a write would do.
  package struct Preview: AdminValue {
    /// At the places that it writes.
    package var leavesBefore: Int64
    /// At the places that it writes.
    package var leavesAfter: Int64
    /// Anywhere: also the value that gives way to children.
    package var leavesRemoved: Int64
    /// The first of them.
    package var events: [ExpectedEvent]
    package var eventCount: Int64
    /// The first of them.
    package var adjustments: [Adjustment]
    package var adjustmentCount: Int64
    /// Where a player was named, and there are rules.
    package var rules: Verdict?

    package init(
      leavesBefore: Int64, leavesAfter: Int64, leavesRemoved: Int64, events: [ExpectedEvent], eventCount: Int64,
      adjustments: [Adjustment], adjustmentCount: Int64, rules: Verdict? = nil
    ) {
      self.rules = rules
      self.leavesBefore = leavesBefore
      self.leavesAfter = leavesAfter
      self.leavesRemoved = leavesRemoved
      self.events = events
      self.eventCount = eventCount
      self.adjustments = adjustments
      self.adjustmentCount = adjustmentCount
    }

    package static let notes: [String: FieldNote] = [
      "leavesBefore": .text("at the places that it writes"),
      "leavesAfter": .text("at the places that it writes"),
      "leavesRemoved": .text("anywhere: also the value that gives way to children"),
      "events": .text("the first of them"),
      "adjustments": .text("the first of them"),
      "rules": .text("what the rules would say to the player who was named; none where there are no rules"),
    ]
  }
}
