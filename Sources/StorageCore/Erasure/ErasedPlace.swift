public import TreeModel

/// A place of the tree whose past was erased: what whoever asks for it is told.
public struct ErasedPlace: Sendable, Hashable {
  /// Of which kind the records are; their keys are the places.
  public static let kind = "erased_place"

  /// The place; what stood below it is erased too.
  public let path: Path
  /// Whose it was.
  public let uid: String
  /// Up to here nothing is known of it.
  public let through: Revision
  /// When it was erased, in milliseconds since 1970.
  public let at: Int64
  /// Who ordered it.
  public let actor: Actor
  /// Why, in a person's words.
  public let reason: String

  init(path: Path, uid: String, through: Revision, at: Int64, actor: Actor, reason: String) {
    self.path = path
    self.uid = uid
    self.through = through
    self.at = at
    self.actor = actor
    self.reason = reason
  }

  init?(_ record: RoomRecord) {
    guard let json = try? JSONParser.parse(record.value), let path = try? Path(parsingOwn: record.key),
      let uid = json["uid"]?.string, let through = json["through"]?.int, let at = json["at"]?.int,
      let actor = json["by"]?.string.flatMap({ Actor($0) })
    else { return nil }
    self.init(
      path: path, uid: uid, through: Revision(through), at: at, actor: actor, reason: json["reason"]?.string ?? "")
  }

  /// As administrators are told: `path`, `uid`, `through`, `at`, `by`, `reason`.
  public var json: JSON {
    JSON(fields: [
      ("path", .string(path.description)), ("uid", .string(uid)), ("through", .int(through.rawValue)), ("at", .int(at)),
      ("by", .string(actor.description)), ("reason", .string(reason)),
    ])
  }

  var change: RoomChange { RoomChange(kind: Self.kind, key: path.description, value: json.singleLine) }
}
