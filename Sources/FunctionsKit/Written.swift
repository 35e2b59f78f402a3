import TreeModel

/// Any of the three; nil stands for absence.
public struct Written<Value: Sendable, each P: PathParameter>: Sendable {
  public let before: Value?
  public let after: Value?
  public let params: (repeat each P)
  public let details: EventDetails

  init(_ run: FunctionDefinition.Run) throws where Value: Decodable {
    before = try run.before.exists ? run.before.decoded() : nil
    after = try run.after.exists ? run.after.decoded() : nil
    var captures = CaptureReader(run.captures)
    params = (repeat try captures.next((each P).self))
    details = run.details
  }
}
