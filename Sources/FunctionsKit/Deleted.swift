/// Something vanished.
public struct Deleted<Value: Sendable, each P: PathParameter>: Sendable {
  public let value: Value
  public let params: (repeat each P)
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    value = try run.before.decoded()
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}
