import HTTPServer
import StorageCore
import TreeModel

/// What the store keeps of a session's `onDisconnect` writes, so that they are made also if the server ends before the session.
///
/// Keyed records: one under the session's name that says as whom they are made, and one for each place.
struct KeptEnd: Sendable {
  static let kind = "session_end"

  /// The server's run and the session within it: `RUN/SESSION`.
  let name: String

  /// What turns the records of some assignments into those of others.
  ///
  /// - `before`: what is kept.
  /// - `after`: what is to be kept; no place lies in another.
  /// - `caller`: as whom it is to be written.
  func changes(
    from before: [WriteOperation.Assignment], to after: [WriteOperation.Assignment], as caller: Caller
  ) -> [KeyedRecordChange] {
    // A service account may be gone by then, and its writes bind no rules: only the server that saw it knows.
    let after = caller.grant == nil ? after : []
    var left = Dictionary(before.map { (key(of: $0), $0.value) }) { first, _ in first }
    var changes: [KeyedRecordChange] = []
    for assignment in after where left.removeValue(forKey: key(of: assignment)) != assignment.value {
      changes.append(KeyedRecordChange(kind: Self.kind, key: key(of: assignment), value: Self.text(assignment.json)))
    }
    changes += left.keys.sorted().map { KeyedRecordChange(kind: Self.kind, key: $0, value: nil) }
    if before.isEmpty != after.isEmpty {
      changes.append(KeyedRecordChange(kind: Self.kind, key: name, value: after.isEmpty ? nil : Self.text(Self.json(caller))))
    }
    return changes
  }

  /// Who is written as from now on.
  func change(to caller: Caller) -> KeyedRecordChange {
    KeyedRecordChange(kind: Self.kind, key: name, value: Self.text(Self.json(caller)))
  }

  private func key(of assignment: WriteOperation.Assignment) -> String {
    let isPriority = if case .priority = assignment.value { true } else { false }
    return name + PathTarget(path: assignment.path, isPriority: isPriority).description
  }

  private static func text(_ json: JSON) -> String {
    var writer = JSONWriter()
    writer.write(json)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension KeptEnd {
  private static func json(_ caller: Caller) -> JSON {
    [
      "actor": .string(caller.actor.description), "admin": .bool(caller.isAdmin), "auth": caller.auth?.json ?? .null,
      "until": caller.validUntil.map { .int($0) } ?? .null,
    ]
  }

  /// The session that a record belongs to; nil if it is none of this kind.
  static func name(ofKey key: String) -> String? {
    let parts = key.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count < 2 ? nil : "\(parts[0])/\(parts[1])"
  }

  /// As whom a session's records are to be carried out.
  static func caller(_ text: String) -> Caller {
    guard let json = try? JSONParser.parse(text) else { return .anonymous }
    let until = json["until"]?.int
    if json["admin"]?.bool == true, let actor = json["actor"]?.string.flatMap(Actor.init) {
      return Caller(actor: actor, isAdmin: true, validUntil: until)
    }
    guard let auth = json["auth"], auth.object != nil else { return .anonymous }
    return Caller(user: AuthVariable(json: auth), validUntil: until)
  }

  /// What a place's record says; nil if it says nothing that could be written.
  func assignments(_ record: KeyedRecord) -> [WriteOperation.Assignment]? {
    guard record.key.hasPrefix(name), let json = try? JSONParser.parse(record.value, depthMax: 128),
      let target = try? PathTarget(parsing: String(record.key.dropFirst(name.count)))
    else { return nil }
    return try? WriteOperation.set(target, json: json).assignments
  }
}
