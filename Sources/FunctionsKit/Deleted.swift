/// Something vanished.
public struct Deleted<Value: Sendable, each P: PathParameter>: Sendable {
  /// What stood there before the commit.
  public let value: Value
  /// What the captures of the pattern matched, in its order, in the types of the place.
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
