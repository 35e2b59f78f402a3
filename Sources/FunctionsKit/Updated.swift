/// Something changed into something else.
public struct Updated<Value: Sendable, each P: PathParameter>: Sendable {
  /// What stood there before the commit.
  public let before: Value
  /// What stands there now: as of the commit, whatever was written since.
  public let after: Value
  /// What the captures of the pattern matched, in its order, in the types of the place.
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
