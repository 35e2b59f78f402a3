import Crypto
import StorageCore
import TreeModel

/// Long links that are switched off with the short link that says the same.
///
/// A link of an administrator's, or of an app's, is the same link in both forms: who switches it off wants neither to open. A
/// player's own link is named by its owner, whom a long link does not name; its long form is everybody's, and stays.
extension LinkBook {
  /// Whether a short link that says exactly this is switched off.
  public func isDisabled(_ parameters: LinkParameters, below prefix: LinkPrefix) throws(LinkFault) -> Bool {
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
  func formRows(from before: LinkRecord?, to after: LinkRecord?) async throws(LinkFault) -> [RoomChange] {
    let (old, new) = (before?.disabledForm, after?.disabledForm)
    guard old != new, let key = (after ?? before)?.key else { return [] }
    var changes: [RoomChange] = []
    if let old { changes.append(try await formRow(old) { links in links.filter { $0 != key } }) }
    if let new {
      changes.append(try await formRow(new) { links in links.contains(key) ? links : links + [key] })
      // Before the commit: who opens the long form from then on looks.
      hasDisabledForms = true
    }
    return changes
  }

  /// The row of a long form with other short links in it; without any it goes.
  private func formRow(_ form: String, _ change: ([String]) -> [String]) async throws(LinkFault) -> RoomChange {
    let stored = try await reading { (snapshot, namespace) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Kind.off, key: form)
    }
    let text = stored ?? nil
    let links = change((text.flatMap { try? JSONParser.parse($0) }?["links"]?.array ?? []).compactMap(\.string))
    let value: String? = links.isEmpty ? nil : JSON.object([.init(key: "links", value: .array(links.map(JSON.string)))]).text
    return RoomChange(kind: Kind.off, key: form, value: value, expecting: text.map { .value($0) } ?? .absent)
  }

  fileprivate static func formKey(_ prefix: String, _ canonical: String) -> String {
    HexText.text(SHA256.hash(data: Array("\(prefix)\n\(canonical)".utf8)))
  }
}

extension LinkRecord {
  /// The key of the row of its long form, if that is switched off with it; nil if it is on, or a player's.
  fileprivate var disabledForm: String? {
    guard disabledAt != nil, owner == nil, invite == nil, let prefix else { return nil }
    return LinkBook.formKey(prefix.key, canonical)
  }
}
