/// Why a commit happened: the run of a function for an event.
public struct Cause: Sendable, Hashable {
  /// The event that it ran for.
  public let event: EventID
  /// The function that ran.
  public let function: String
  /// How many functions stand between the first write and this commit: 1 for the effect of a client's write.
  public let hop: Int

  public init(event: EventID, function: String, hop: Int) {
    self.event = event
    self.function = function
    self.hop = hop
  }
}
