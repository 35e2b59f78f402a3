import Crypto
package import StorageCore
import TextFormats
import TreeModel

/// What administrators do to a short link that is there.
extension LinkService {
  /// A link that was changed.
  package struct Edited: Sendable {
    /// As it is now.
    package let record: LinkRecord
    /// What is doubtful about what it says now.
    package let warnings: [LinkWarning]
  }

  /// Changes what a link says, what it is called, or whether it is on. It keeps its address, its code, and what was counted.
  ///
  /// What openings of before gave out, proofs of clicks among it, is good for what the link says now.
  ///
  /// - `key`: prefix and suffix.
  /// - Throws: ``LinkError``; nothing was changed.
  package func edit(_ key: String, _ edit: LinkEdit, actor: Actor) async throws(LinkError) -> Edited {
    for _ in 0..<16 {
      let (value, before) = try await stored(key)
      var record = before
      var warnings: [LinkWarning] = []
      if !edit.parameters.isEmpty { warnings = try apply(edit.parameters, to: &record) }
      if let name = edit.name { record.name = name }
      if let isDisabled = edit.isDisabled { record.disabledAt = isDisabled ? record.disabledAt ?? clock.now() : nil }
      guard record != before else { return Edited(record: record, warnings: warnings) }
      record.changedAt = clock.now()
      var changes = [KeyedRecordChange(kind: Kind.link, key: key, value: record.value, expecting: .value(value))]
      // Who orders what the link said before gets a link that says it.
      if record.canonical != before.canonical { changes += try await duplicateKeyChange(of: before) }
      changes += try await disabledFormChanges(from: before, to: record)
      if try await commit(changes, of: key, actor: actor) { return Edited(record: record, warnings: warnings) }
    }
    throw LinkError(.unavailable, "The link is being changed by others; try again.")
  }

  /// Deletes a link with its code. Its suffix is given to no other link by chance, and says that there was one.
  ///
  /// What was claimed by it stays: rewards rest on that.
  package func delete(_ key: String, actor: Actor) async throws(LinkError) -> LinkRecord {
    for _ in 0..<16 {
      let (value, record) = try await stored(key)
      var changes = [
        KeyedRecordChange(kind: Kind.link, key: key, value: nil, expecting: .value(value)),
        KeyedRecordChange(kind: Kind.deleted, key: key, value: "{\"at\":\(clock.now())}"),
      ]
      if let code = record.code { changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: nil)) }
      changes += try await duplicateKeyChange(of: record)
      changes += try await disabledFormChanges(from: record, to: nil)
      if try await commit(changes, of: key, actor: actor) { return record }
    }
    throw LinkError(.unavailable, "The link is being changed by others; try again.")
  }

  /// Whether there was a link that an administrator deleted.
  package func wasDeleted(_ key: String) throws(LinkError) -> Bool {
    let found = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.deleted, key: key)
    }
    return (found ?? nil) != nil
  }

  private func stored(_ key: String) async throws(LinkError) -> (value: String, record: LinkRecord) {
    let found = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.link, key: key)
    }
    guard let value = found ?? nil else {
      throw LinkError(.notFound, "There is no short link https://\(key.prefix(200)).", reason: "unknown_link")
    }
    guard let record = LinkRecord(key: key, value: value) else {
      throw LinkError(.unavailable, "The record of this link cannot be read; restore a backup.")
    }
    return (value, record)
  }

  private func apply(_ changes: [LinkParameter: String?], to record: inout LinkRecord) throws(LinkError) -> [LinkWarning] {
    guard let prefix = record.prefix, var parameters = record.parameters else {
      throw LinkError(.failedPrecondition, "What this link says cannot be read; delete it and create another.")
    }
    for (parameter, text) in changes { parameters[parameter] = text }
    let warnings = try LinkChecker(settings: settings).check(parameters, below: prefix)
    record.canonical = parameters.canonical
    return warnings
  }

  /// Lets go of the row by which an equal order finds the link.
  private func duplicateKeyChange(of record: LinkRecord) async throws(LinkError) -> [KeyedRecordChange] {
    guard record.option != .custom, record.invite == nil, let prefix = record.prefix else { return [] }
    let same = Self.duplicateKey(prefix: prefix.key, record.canonical, record.option, owner: record.owner)
    let found = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.same, key: same)
    }
    // After an edit another link may be the one that says this.
    return found == record.key ? [KeyedRecordChange(kind: Kind.same, key: same, value: nil, expecting: .value(record.key))] : []
  }

  /// Commits; false if the link was changed since it was read.
  private func commit(_ changes: [KeyedRecordChange], of key: String, actor: Actor) async throws(LinkError) -> Bool {
    do throws(LinkError) {
      try await commit(records: changes, actor: actor)
    } catch  where error.reason == Self.changed {
      return false
    }
    cache.remove(key)
    return true
  }
}

/// What an administrator changes about a short link; what is nil stays as it is.
package struct LinkEdit: Sendable, Hashable {
  /// What it is called from now on; an inner nil takes the name away.
  package var name: String??
  /// Parameters of the long link, and what each says from now on; nil takes it away.
  package var parameters: [LinkParameter: String?]
  /// Whether it is switched off.
  package var isDisabled: Bool?

  package init(name: String?? = nil, parameters: [LinkParameter: String?] = [:], isDisabled: Bool? = nil) {
    self.name = name
    self.parameters = parameters
    self.isDisabled = isDisabled
  }
}

/// Long links that are switched off with the short link that says the same.
///
/// A link of an administrator's, or of an app's, is the same link in both forms: who switches it off wants neither to open. A
/// player's own link is named by its owner, whom a long link does not name; its long form is everybody's, and stays.
extension LinkService {
  /// Whether a short link that says exactly this is switched off.
  package func isDisabled(_ parameters: LinkParameters, below prefix: LinkPrefix) throws(LinkError) -> Bool {
    guard hasDisabledForms else { return false }
    let key = Self.formKey(prefix.key, parameters.canonical)
    let found = try looking { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.off, key: key)
    }
    return (found ?? nil) != nil
  }

  /// The rows that change with a link.
  ///
  /// - Parameters:
  ///   - before: as it was; nil if it is new.
  ///   - after: as it is to be; nil if it goes.
  func disabledFormChanges(from before: LinkRecord?, to after: LinkRecord?) async throws(LinkError) -> [KeyedRecordChange] {
    let (old, new) = (before?.disabledForm, after?.disabledForm)
    guard old != new, let key = (after ?? before)?.key else { return [] }
    var changes: [KeyedRecordChange] = []
    if let old { changes.append(try await disabledFormChange(old) { links in links.filter { $0 != key } }) }
    if let new {
      changes.append(try await disabledFormChange(new) { links in links.contains(key) ? links : links + [key] })
      // Before the commit: who opens the long form from then on looks.
      hasDisabledForms = true
    }
    return changes
  }

  /// The row of a long form with other short links in it; without any it goes.
  private func disabledFormChange(_ form: String, _ change: ([String]) -> [String]) async throws(LinkError) -> KeyedRecordChange
  {
    let stored = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.off, key: form)
    }
    let text = stored ?? nil
    let links = change((text.flatMap { try? JSONParser.parse($0) }?["links"]?.array ?? []).compactMap(\.string))
    let value: String? = links.isEmpty ? nil : JSON.object([.init(key: "links", value: .array(links.map(JSON.string)))]).text
    return KeyedRecordChange(kind: Kind.off, key: form, value: value, expecting: text.map { .value($0) } ?? .absent)
  }

  fileprivate static func formKey(_ prefix: String, _ canonical: String) -> String {
    Hex.encode(SHA256.hash(data: Array("\(prefix)\n\(canonical)".utf8)))
  }
}

extension LinkRecord {
  /// The key of the row of its long form, if that is switched off with it; nil if it is on, or a player's.
  fileprivate var disabledForm: String? {
    guard disabledAt != nil, owner == nil, invite == nil, let prefix else { return nil }
    return LinkService.formKey(prefix.key, canonical)
  }
}

/// What goes when a player leaves: the links that the player invites with, their codes, and of the claims all but who invited
/// whom, which rewards rest on.
extension LinkService: PlayerRecordsErasing {
  package func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    guard home.known() == namespace else { return KeyedRecordErasure() }
    var changes: [KeyedRecordChange] = []
    var links: Set<String> = []
    try snapshot.forEachRecord(in: namespace, kind: Kind.link) { row in
      guard let link = LinkRecord(key: row.key, value: row.value), link.owner == uid else { return }
      links.insert(link.key)
      changes.append(KeyedRecordChange(kind: Kind.link, key: link.key, value: nil))
      if let code = link.code { changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: nil)) }
    }
    if !links.isEmpty {
      try snapshot.forEachRecord(in: namespace, kind: Kind.same) { row in
        if links.contains(row.value) { changes.append(KeyedRecordChange(kind: Kind.same, key: row.key, value: nil)) }
      }
    }
    return KeyedRecordErasure(records: changes + (try claims(of: uid, in: namespace, snapshot)))
  }

  package func didErase() { cache.removeAll() }

  /// The player's claim, and the click that it used up, without where and when the click was made.
  private func claims(of uid: String, in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError)
    -> [KeyedRecordChange]
  {
    let key = "player/\(uid)"
    guard let value = try snapshot.record(in: namespace, kind: Kind.claim, key: key), let claim = LinkClaim(stored: value),
      claim.evidence != .code(Self.erasedEvidence)
    else { return [] }
    let kept = LinkClaim(
      player: claim.player, inviter: claim.inviter, link: "", evidence: .code(Self.erasedEvidence), at: claim.at
    ).json.text
    var changes = [KeyedRecordChange(kind: Kind.claim, key: key, value: kept)]
    if case .click(let id, _, _) = claim.evidence {
      changes.append(KeyedRecordChange(kind: Kind.claim, key: "click/\(id)", value: kept))
    }
    return changes
  }

  /// Stands for the evidence of a claim that was erased; no code can be this.
  private static let erasedEvidence = "erased"
}
