/// Something changed into something else.
public struct Updated<Value: Sendable, each P: PathParameter>: Sendable {
  public let before: Value
  public let after: Value
  public let params: (repeat each P)
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    before = try run.before.decoded()
    after = try run.after.decoded()
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}
