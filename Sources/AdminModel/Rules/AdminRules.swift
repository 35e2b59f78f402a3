import TreeModel

/// The security rules of a namespace: what holds, what held, and what is wrong with a text.
package enum AdminRules {
  package static let read = Endpoint<NoQuery, NoBody, Rules>(
    .get, "/admin/v1/rules", "The rules that hold, with their hash.", isScoped: true)
  package static let put = Endpoint<NoQuery, PutOrder, Put>(
    .put, "/admin/v1/rules",
    "Replaces the rules; 400 with every fault if they are not sound, 412 with both hashes if others were faster.",
    access: .admin, isScoped: true
  ).withProof
  package static let check = Endpoint<NoQuery, CheckOrder, Check>(
    .post, "/admin/v1/rules/check", "Whether a text would be taken as rules, and every fault of it; nothing is done.",
    isScoped: true)
  package static let test = Endpoint<NoQuery, TestOrder, TestReport>(
    .post, "/admin/v1/rules/test",
    "Runs the cases of a test of rules, as \"doubloon rules test\" does, and says what they prove; nothing is done.",
    isScoped: true)
  package static let history = Endpoint<NoQuery, NoBody, History>(
    .get, "/admin/v1/rules/history", "The last 100 versions of the rules, newest first.", isScoped: true)
  package static let version = Endpoint<NoQuery, NoBody, VersionSource>(
    .get, "/admin/v1/rules/history/{version}", "One version of the rules, with its source.", isScoped: true,
    captures: [.capture("version", text: "Its number, or its hash.")])
  package static let rollback = Endpoint<NoQuery, RollbackOrder, Put>(
    .post, "/admin/v1/rules/rollback", "Puts an earlier version of the rules once more, as a new version.", access: .admin,
    isScoped: true
  ).withProof

  /// The rules that hold.
  package struct Rules: AdminValue {
    /// As they were uploaded; where nobody has put any, what holds then.
    package var source: String
    /// SHA-256 of the source.
    package var hash: String
    package var bytes: Int64
    package var exists: Bool
    package var updatedAt: Timestamp?
    /// The number of the version.
    package var version: Int64?

    package init(
      source: String, hash: String, bytes: Int64, exists: Bool, updatedAt: Timestamp? = nil, version: Int64? = nil
    ) {
      self.source = source
      self.hash = hash
      self.bytes = bytes
      self.exists = exists
      self.updatedAt = updatedAt
      self.version = version
    }

    package static let notes: [String: FieldNote] = [
      "source": .text("as they were uploaded; where nobody has put any, what holds then"),
      "hash": .text("SHA-256 of the source; \"none\" where nobody has put any"),
      "exists": .text("false where nobody has put any"),
      "version": .text("the number of the version"),
    ]
  }

  /// Rules to put in place of those that hold.
  package struct PutOrder: AdminValue {
    package var source: String
    package var ifHash: String?
    /// Why, for the record.
    package var reason: String

    package init(source: String, ifHash: String? = nil, reason: String) {
      self.source = source
      self.ifHash = ifHash
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "source": .text("the whole rules file, comments included"),
      "ifHash": .ifHash,
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// What became of rules that were put.
  package struct Put: AdminValue {
    /// Of the version that holds now.
    package var version: Int64
    package var hash: String
    /// False where they held already: then there is no new version.
    package var changed: Bool

    package init(version: Int64, hash: String, changed: Bool) {
      self.version = version
      self.hash = hash
      self.changed = changed
    }

    package static let notes: [String: FieldNote] = [
      "version": .text("the number of the version that holds now"),
      "changed": .text("false where they held already: then there is no new version"),
    ]
  }

  /// A version to go back to.
  package struct RollbackOrder: AdminValue {
    /// Its number, or its hash.
    package var version: String
    package var ifHash: String?
    /// Why, for the record.
    package var reason: String

    package init(version: String, ifHash: String? = nil, reason: String) {
      self.version = version
      self.ifHash = ifHash
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "version": .only(.filled, text: "its number, or its hash, as text"),
      "ifHash": .ifHash,
      "reason": .only(.filled, text: "why, for the record"),
    ]
  }

  /// A text that may be rules.
  package struct CheckOrder: AdminValue {
    package var source: String

    package init(source: String) { self.source = source }
  }

  /// What is wrong with a text.
  package struct Fault: AdminValue {
    /// From 1.
    package var line: Int64
    /// From 1, in Unicode scalars.
    package var column: Int64
    package var message: String

    package init(line: Int64, column: Int64, message: String) {
      self.line = line
      self.column = column
      self.message = message
    }

    package static let notes: [String: FieldNote] = [
      "line": .text("from 1"), "column": .text("from 1, in Unicode scalars"),
    ]
  }

  /// Whether a text is rules.
  package struct Check: AdminValue {
    package var sound: Bool
    /// In the order of the text, at most 100.
    package var faults: [Fault]
    package var hash: String
    /// How many places have rules.
    package var places: Int64
    package var rules: Int64
    package var indexes: Int64

    package init(sound: Bool, faults: [Fault], hash: String, places: Int64 = 0, rules: Int64 = 0, indexes: Int64 = 0) {
      self.sound = sound
      self.faults = faults
      self.hash = hash
      self.places = places
      self.rules = rules
      self.indexes = indexes
    }

    package static let notes: [String: FieldNote] = [
      "faults": .text("in the order of the text, at most 100"), "hash": .text("SHA-256 of the text"),
      "places": .text("how many have rules"),
    ]
  }

  /// How a version came to hold.
  package enum Way: String, AdminWord, Hashable {
    case put, rollback, configuration, found
  }

  /// A version of the rules.
  package struct Version: AdminValue {
    package var version: Int64
    package var time: Timestamp
    package var actor: String?
    package var way: Way
    package var reason: String?
    package var hash: String
    package var bytes: Int64
    /// The version that it went back to.
    package var restores: Int64?
    /// Whether it holds.
    package var current: Bool

    package init(
      version: Int64, time: Timestamp, actor: String?, way: Way, reason: String?, hash: String, bytes: Int64, restores: Int64?,
      current: Bool
    ) {
      self.version = version
      self.time = time
      self.actor = actor
      self.way = way
      self.reason = reason
      self.hash = hash
      self.bytes = bytes
      self.restores = restores
      self.current = current
    }

    package static let notes: [String: FieldNote] = [
      "version": .text("1, 2, 3 …"),
      "actor": .text("who; left out where it is not known"),
      "way": .text("configuration: at a start; found: it held before the history was kept"),
      "hash": .text("SHA-256 of its source"),
      "restores": .text("of a rollback: the version that it went back to"),
      "current": .text("whether it holds"),
    ]
  }

  /// The versions that are kept, newest first.
  package struct History: AdminValue {
    package var versions: [Version]

    package init(versions: [Version]) { self.versions = versions }
  }

  /// A version with its source.
  package struct VersionSource: AdminValue {
    package var version: Version
    package var source: String

    package init(version: Version, source: String) {
      self.version = version
      self.source = source
    }
  }
}

extension FieldNote {
  fileprivate static let ifHash = FieldNote.only(
    .filled, text: "refused with 412 if the rules have another hash; \"none\": if there are any")
}
