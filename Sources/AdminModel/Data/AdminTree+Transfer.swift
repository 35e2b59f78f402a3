package import TreeModel

/// The tree as documents: taken out whole, taken in part by part.
extension AdminTree {
  /// What is to be exported.
  package struct ExportQuery: AdminValue {
    package var path: String
    package var revision: Int64?
    package var time: Timestamp?

    package init(path: String, revision: Int64? = nil, time: Timestamp? = nil) {
      self.path = path
      self.revision = revision
      self.time = time
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "revision": .text("As of this revision; now if neither is given."),
      "time": .text("As of this time, in milliseconds since 1970."),
    ]
  }

  /// A part of a document, in the order of the tree.
  package struct ImportOrder: AdminValue {
    package var path: String
    /// Values and priorities, in the form of an export, as they lie below `path`.
    package var value: JSON?
    /// Up to which value the document is there already.
    package var after: String?
    package var last: Bool?
    package var triggers: Bool?
    package var dryRun: Bool?
    /// Why, for the record.
    package var reason: String

    package init(
      path: String, value: JSON? = nil, after: String? = nil, last: Bool? = nil, triggers: Bool? = nil, dryRun: Bool? = nil,
      reason: String
    ) {
      self.path = path
      self.value = value
      self.after = after
      self.last = last
      self.triggers = triggers
      self.dryRun = dryRun
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "path": .path("what the document replaces"),
      "value": .text(
        "a part of the document, from path on, with .priority and .value; its values come behind those sent before"),
      "after": .path("the through of the part before; from the beginning if it is not given"),
      "last": .text("true where nothing comes behind the part: what stands there behind it is removed"),
      "triggers": .text("whether functions see the changes; false if it is not given"),
      "dryRun": .text("true: tells what would change, and changes nothing"),
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What became of a part.
  package struct Imported: AdminValue {
    /// Of the tree after it.
    package var revision: Int64
    /// How many of its values, from the first; the rest are sent again as the next part.
    package var taken: Int64
    package var added: Int64
    package var changed: Int64
    package var removed: Int64
    package var same: Int64
    /// Of nodes with children: those set or taken away.
    package var priorities: Int64
    package var events: Int64
    /// Up to where everything is as in the document: the after of the next part.
    package var through: String?
    /// Whether the whole document is there.
    package var complete: Bool

    package init(
      revision: Int64, taken: Int64 = 0, added: Int64 = 0, changed: Int64 = 0, removed: Int64 = 0, same: Int64 = 0,
      priorities: Int64 = 0, events: Int64 = 0, through: String? = nil, complete: Bool = false
    ) {
      self.revision = revision
      self.taken = taken
      self.added = added
      self.changed = changed
      self.removed = removed
      self.same = same
      self.priorities = priorities
      self.events = events
      self.through = through
      self.complete = complete
    }

    package static let notes: [String: FieldNote] = [
      "revision": .text("of the tree after it"),
      "taken": .text("how many of its values, from the first; the rest are sent again as the next part"),
      "added": .text("values that were not there"),
      "changed": .text("values that were others, or had another priority"),
      "removed": .text("values that the document does not have"),
      "same": .text("values that stood there already"),
      "priorities": .text("of nodes with children: those set or taken away"),
      "events": .text("how many it made, or would make"),
      "through": .text("up to where everything is as in the document: the after of the next part"),
      "complete": .text("whether the whole document is there"),
    ]
  }
}
