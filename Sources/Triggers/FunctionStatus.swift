/// A registered function, for people to look at.
public struct FunctionStatus: Sendable, Hashable {
  public let name: String
  public let pattern: String
  public let trigger: String
  public let filter: String
  public let settings: String?
  public let isPaused: Bool
  public let pauseReason: String?
  public let counts: FunctionCounts
}
