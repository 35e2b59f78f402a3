public import TreeModel

/// What every event tells beside its values.
public struct EventDetails: Sendable {
  /// `epoch-revision:path`; the same for every delivery of the event.
  public let id: String
  public let namespace: String
  /// The path that the pattern matched.
  public let path: Path
  /// When the write was committed, in milliseconds since 1970.
  public let time: Int64
  /// Who wrote: `user:bob`, `admin:owner`, `anonymous`, `function:NAME`.
  public let actor: String
  /// Which attempt at this event this is, from 1.
  public let attempt: Int

  public init(id: String, namespace: String, path: Path, time: Int64, actor: String, attempt: Int) {
    self.id = id
    self.namespace = namespace
    self.path = path
    self.time = time
    self.actor = actor
    self.attempt = attempt
  }
}

/// Something appeared where nothing was.
public struct Created<Value: Sendable, each P: PathParameter>: Sendable {
  /// The value as of the commit, whatever was written since.
  public let value: Value
  /// What the captures of the pattern matched, in its order, in the types of the path.
  public let params: (repeat each P)
  /// When, where and by whom.
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    value = try run.after.decoded()
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}

/// Something changed into something else.
public struct Updated<Value: Sendable, each P: PathParameter>: Sendable {
  /// The value before the commit.
  public let before: Value
  /// The value as of the commit, whatever was written since.
  public let after: Value
  /// What the captures of the pattern matched, in its order, in the types of the path.
  public let params: (repeat each P)
  /// When, where and by whom.
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    before = try run.before.decoded()
    after = try run.after.decoded()
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}

/// Something vanished.
public struct Deleted<Value: Sendable, each P: PathParameter>: Sendable {
  /// The value before the commit.
  public let value: Value
  /// What the captures of the pattern matched, in its order, in the types of the path.
  public let params: (repeat each P)
  /// When, where and by whom.
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    value = try run.before.decoded()
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}

/// Any of the three; nil stands for absence.
public struct Written<Value: Sendable, each P: PathParameter>: Sendable {
  /// The value before the commit; nil for a creation.
  public let before: Value?
  /// The value as of the commit; nil for a deletion.
  public let after: Value?
  /// What the captures of the pattern matched, in its order, in the types of the path.
  public let params: (repeat each P)
  /// When, where and by whom.
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    before = try run.before.exists ? run.before.decoded() : nil
    after = try run.after.exists ? run.after.decoded() : nil
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}

/// Reads captured segments one after the other, each as the type that the path gives it.
struct CaptureReader {
  private let captures: [String]
  private var position = 0

  init(_ captures: [String]) {
    self.captures = captures
  }

  mutating func next<Parameter: PathParameter>(_ type: Parameter.Type) throws(TypeMismatch) -> Parameter {
    guard position < captures.count else { throw TypeMismatch("expected a captured \(type), found none") }
    guard let parameter = Parameter(pathSegment: captures[position]) else {
      throw TypeMismatch("expected \(type) as capture \(position + 1) of the path, found \"\(captures[position].prefix(80))\"")
    }
    position += 1
    return parameter
  }
}
