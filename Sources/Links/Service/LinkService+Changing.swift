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

  /// Changes what a link says, what it is called, or whether it is on. It keeps its address, its code, and its counts.
  ///
  /// Proofs of clicks that were given out before are good for what the link says now.
  ///
  /// - `key`: prefix and suffix.
  /// - Throws: ``LinkError``; nothing was changed.
  package func edit(_ key: String, edit: LinkEdit, actor: Actor) async throws -> Edited {
    for _ in 0..<16 {
      let (value, before) = try existing(key)
      var record = before
      var warnings: [LinkWarning] = []
      if !edit.parameters.isEmpty { warnings = try apply(edit.parameters, to: &record) }
      if let name = edit.name { record.name = name }
      if let isDisabled = edit.isDisabled { record.disabledAt = isDisabled ? record.disabledAt ?? clock.now() : nil }
      guard record != before else { return Edited(record: record, warnings: warnings) }
      record.changedAt = clock.now()
      var changes = [KeyedRecordChange(kind: Kind.link, key: key, value: record.stored, expecting: .value(value))]
      // A request for what the link said before gets a link that says it.
      if record.canonical != before.canonical { changes += try duplicateKeyChange(of: before) }
      changes += try disabledFormChanges(from: before, to: record)
      let settings = settings
      changes += LinkIndex.changes(
        from: LinkIndex.keys(of: before, settings: settings), to: LinkIndex.keys(of: record, settings: settings))
      if try await commit(changes, of: key, actor: actor) { return Edited(record: record, warnings: warnings) }
    }
    throw LinkError.unavailable("The link is being changed by others; try again.")
  }

  /// Deletes a link with its code. Its suffix is given to no other link by chance, and says that there was one.
  ///
  /// What was claimed by it stays: rewards rest on that.
  ///
  /// - Returns: the link as it was.
  package func delete(_ key: String, actor: Actor) async throws -> LinkRecord {
    for _ in 0..<16 {
      let (value, record) = try existing(key)
      var changes = [
        KeyedRecordChange(kind: Kind.link, key: key, value: nil, expecting: .value(value)),
        KeyedRecordChange(kind: Kind.deleted, key: key, value: "{\"at\":\(clock.now())}"),
      ]
      if let code = record.code { changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: nil)) }
      changes += try duplicateKeyChange(of: record)
      changes += try disabledFormChanges(from: record, to: nil)
      changes += LinkIndex.changes(from: LinkIndex.keys(of: record, settings: settings), to: [])
      if try await commit(changes, of: key, actor: actor) { return record }
    }
    throw LinkError.unavailable("The link is being changed by others; try again.")
  }

  /// Whether there was a link that an administrator deleted.
  package func wasDeleted(_ key: String) throws -> Bool { try stored(Kind.deleted, key: key) != nil }

  private func existing(_ key: String) throws -> (value: String, record: LinkRecord) {
    guard let value = try stored(Kind.link, key: key) else { throw LinkError.unknownShortLink(key: key) }
    guard let record = LinkRecord(key: key, stored: value) else {
      throw LinkError.unavailable("The record of this link cannot be read; restore a backup.")
    }
    return (value, record)
  }

  private func apply(_ changes: [LinkParameter: String?], to record: inout LinkRecord) throws -> [LinkWarning] {
    guard let prefix = record.prefix, var parameters = record.parameters else { throw LinkError.unreadableParameters }
    for (parameter, text) in changes { parameters[parameter] = text }
    let warnings = try LinkChecker(settings: settings).check(parameters, below: prefix)
    record.canonical = parameters.canonical
    return warnings
  }

  /// Removes the record by which an equal request finds the link.
  private func duplicateKeyChange(of record: LinkRecord) throws -> [KeyedRecordChange] {
    guard record.option != .custom, record.invite == nil, let prefix = record.prefix else { return [] }
    let key = Self.duplicateKey(prefix: prefix, canonical: record.canonical, option: record.option, owner: record.owner)
    // After an edit another link may be the one that says this.
    guard try stored(Kind.same, key: key) == record.key else { return [] }
    return [KeyedRecordChange(kind: Kind.same, key: key, value: nil, expecting: .value(record.key))]
  }

  /// Commits; false if the link was changed since it was read.
  private func commit(_ changes: [KeyedRecordChange], of key: String, actor: Actor) async throws -> Bool {
    guard try await commit(changes, actor: actor) == .committed else { return false }
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
/// A link of an administrator or of an app is the same link in both forms, so disabling it disables both. A player's own link is
/// identified by its owner, whom a long link does not name: its long form is not only the player's, and stays enabled.
extension LinkService {
  /// Whether a short link that says exactly this is switched off.
  package func isDisabled(_ parameters: LinkParameters, below prefix: LinkPrefix) throws -> Bool {
    guard hasDisabledForms else { return false }
    return try stored(Kind.off, key: Self.formKey(prefix, canonical: parameters.canonical)) != nil
  }

  /// The changes to the records of disabled long forms that go along with a change of a link.
  ///
  /// - Parameters:
  ///   - before: as it was; nil if it is new.
  ///   - after: as it is to be; nil if it is deleted.
  func disabledFormChanges(from before: LinkRecord?, to after: LinkRecord?) throws -> [KeyedRecordChange] {
    let (old, new) = (before?.disabledForm, after?.disabledForm)
    guard old != new, let key = (after ?? before)?.key else { return [] }
    var changes: [KeyedRecordChange] = []
    if let old { changes.append(try disabledFormChange(old) { links in links.filter { $0 != key } }) }
    if let new {
      changes.append(try disabledFormChange(new) { links in links.contains(key) ? links : links + [key] })
      // Before the commit, so that no opening after it misses the record.
      hasDisabledForms = true
    }
    return changes
  }

  /// Replaces the short links in the record of a long form; a record without any is removed.
  private func disabledFormChange(_ form: String, replacing: ([String]) -> [String]) throws -> KeyedRecordChange {
    let text = try stored(Kind.off, key: form)
    let links = replacing((text.flatMap { try? JSONParser.parse($0) }?["links"]?.array ?? []).compactMap(\.string))
    let value: String? =
      links.isEmpty ? nil : JSON.object([.init(key: "links", value: .array(links.map(JSON.string)))]).compactText
    return KeyedRecordChange(kind: Kind.off, key: form, value: value, expecting: text.map { .value($0) } ?? .absent)
  }

  fileprivate static func formKey(_ prefix: LinkPrefix, canonical: String) -> String {
    Hex.encode(SHA256.hash(data: Array("\(prefix.key)\n\(canonical)".utf8)))
  }
}

extension LinkRecord {
  /// The key of the record of its long form, if that is switched off with it; nil if it is on, or a player's.
  fileprivate var disabledForm: String? {
    guard disabledAt != nil, owner == nil, invite == nil, let prefix else { return nil }
    return LinkService.formKey(prefix, canonical: canonical)
  }
}

/// What is erased with a player: the links that the player invites with, their codes, and of the claims all but who invited
/// whom, which rewards rest on.
extension LinkService: PlayerRecordsErasing {
  package func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    guard home.known() == namespace else { return KeyedRecordErasure() }
    var changes: [KeyedRecordChange] = []
    var links: Set<String> = []
    let settings = settings
    try snapshot.forEachRecord(in: namespace, kind: Kind.link) { row in
      guard let link = LinkRecord(key: row.key, stored: row.value), link.owner == uid else { return }
      links.insert(link.key)
      changes.append(KeyedRecordChange(kind: Kind.link, key: link.key, value: nil))
      changes += LinkIndex.changes(from: LinkIndex.keys(of: link, settings: settings), to: [])
      if let code = link.code { changes.append(KeyedRecordChange(kind: Kind.code, key: code, value: nil)) }
    }
    if !links.isEmpty {
      try snapshot.forEachRecord(in: namespace, kind: Kind.same) { row in
        if links.contains(row.value) { changes.append(KeyedRecordChange(kind: Kind.same, key: row.key, value: nil)) }
      }
    }
    return KeyedRecordErasure(records: changes + (try claims(of: uid, in: namespace, snapshot: snapshot)))
  }

  package func didErase() { cache.removeAll() }

  /// The player's claim, and the click that it used up, without where and when the click was made.
  private func claims(of uid: String, in namespace: NamespaceID, snapshot: any Snapshot) throws(StorageError)
    -> [KeyedRecordChange]
  {
    let key = "player/\(uid)"
    guard let value = try snapshot.record(in: namespace, kind: Kind.claim, key: key), let claim = LinkClaim(stored: value),
      claim.evidence != .code(Self.erasedEvidence)
    else { return [] }
    let kept = LinkClaim(
      player: claim.player, inviter: claim.inviter, link: "", evidence: .code(Self.erasedEvidence), at: claim.at)
    var changes = [KeyedRecordChange(kind: Kind.claim, key: key, value: kept.stored)]
    changes += LinkIndex.changes(from: LinkIndex.keys(of: claim), to: LinkIndex.keys(of: kept))
    if case .click(let id, _, _) = claim.evidence {
      changes.append(KeyedRecordChange(kind: Kind.claim, key: "click/\(id)", value: kept.stored))
    }
    return changes
  }

  /// Stands for the evidence of a claim that was erased; no code can be this.
  private static let erasedEvidence = "erased"
}
