import HTTPServer
import StorageCore
import TreeModel

/// What the store keeps of a session's `onDisconnect` writes, so that they are made also if the server ends before the session.
///
/// Keyed records: one under the session's name that says as whom they are made, and one for each place.
struct KeptEnd: Sendable {
  static let kind = SessionEndErasing.kind

  private struct Place: Sendable {
    let key: String
    /// What the store has of it, or will have; nil where that is not known.
    let value: WriteOperation.Assignment.Value?
  }

  /// The server's run and the session within it: `RUN/SESSION`.
  let name: String
  private var places: [PathBytes: Place] = [:]
  /// As whom it is written; nil: there is no record, and empty: it is not known.
  private var writer: String?
  /// Records whose removal is on its way.
  private var leaving: [PathBytes: String] = [:]
  private var changesOnTheirWay = 0

  init(name: String) {
    self.name = name
  }

  /// What brings the store to this; the caller says by ``didChange(_:)`` what became of it.
  ///
  /// - `registered`: no place lies in another.
  /// - `caller`: as whom it is to be written.
  mutating func change(to registered: [WriteOperation.Assignment], as caller: Caller) -> [KeyedRecordChange] {
    // A service account may be gone by then, and its writes bind no rules: only the server that saw it knows.
    let registered = caller.grant == nil ? registered : []
    var (left, changes) = (places, [KeyedRecordChange]())
    places = [:]
    for assignment in registered {
      let (path, key) = (assignment.pathBytes, key(of: assignment))
      if left.removeValue(forKey: path)?.value != assignment.value {
        changes.append(KeyedRecordChange(kind: Self.kind, key: key, value: Self.text(assignment.json)))
      }
      places[path] = Place(key: key, value: assignment.value)
      leaving[path] = nil
    }
    for (path, place) in left.sorted(by: { $0.key < $1.key }) {
      leaving[path] = place.key
      changes.append(KeyedRecordChange(kind: Self.kind, key: place.key, value: nil))
    }
    let writer = registered.isEmpty ? nil : Self.text(Self.json(caller))
    if writer != self.writer { changes.append(KeyedRecordChange(kind: Self.kind, key: name, value: writer)) }
    self.writer = writer
    if !changes.isEmpty { changesOnTheirWay += 1 }
    return changes
  }

  /// Whether the store has what `change(to:as:)` has said.
  mutating func didChange(_ isDone: Bool) {
    changesOnTheirWay -= 1
    if !isDone {
      places = places.mapValues { Place(key: $0.key, value: nil) }
      writer = ""
    } else if changesOnTheirWay == 0, writer != "" {
      leaving = [:]
    }
  }

  /// Takes away all that the store has, or may have.
  var removal: [KeyedRecordChange] {
    let keys = places.mapValues(\.key).merging(leaving) { first, _ in first }
    guard !keys.isEmpty || writer != nil else { return [] }
    return keys.sorted { $0.key < $1.key }.map { KeyedRecordChange(kind: Self.kind, key: $0.value, value: nil) }
      + [KeyedRecordChange(kind: Self.kind, key: name, value: nil)]
  }

  /// Takes away what the store has of one place.
  func removal(of assignment: WriteOperation.Assignment) -> [KeyedRecordChange] {
    places[assignment.pathBytes].map { [KeyedRecordChange(kind: Self.kind, key: $0.key, value: nil)] } ?? []
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

// MARK: - What is kept, read again

extension KeptEnd {
  private static func json(_ caller: Caller) -> JSON {
    [
      "actor": .string(caller.actor.description), "admin": .bool(caller.isAdmin), "auth": caller.auth?.json ?? .null,
      "until": caller.validUntil.map { .int($0) } ?? .null,
    ]
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

  /// What the record of one of the session's places says; nil if it says nothing that could be written.
  func assignments(_ record: KeyedRecord) -> [WriteOperation.Assignment]? {
    guard let json = try? JSONParser.parse(record.value, depthMax: 128),
      let target = try? PathTarget(parsing: String(Substring(record.key.utf8.dropFirst(name.utf8.count))))
    else { return nil }
    return try? WriteOperation.set(target, json: json).assignments
  }
}
