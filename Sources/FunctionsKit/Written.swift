import TreeModel

/// Any of the three; nil stands for absence.
public struct Written<Value: Sendable, each P: PathParameter>: Sendable {
  /// What stood there before the commit; nil for a creation.
  public let before: Value?
  /// What stands there as of the commit; nil for a deletion.
  public let after: Value?
  /// What the captures of the pattern matched, in its order, in the types of the place.
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
