/// A registered function, for people to look at.
public struct FunctionStatus: Sendable, Hashable {
  /// What it is registered as.
  public let name: String
  /// The pattern in its shortest spelling, such as `/users/{uid}/level`.
  public let pattern: String
  /// `onCreate`, `onUpdate`, `onDelete` or `onWrite`.
  public let trigger: String
  /// What it wants to see, in words: `any change`, `rising to 5`.
  public let filter: String
  /// Its settings with the configuration's overrides, as JSON; nil if it has none.
  public let settings: String?
  /// Whether its events wait until a person resumes it.
  public let isPaused: Bool
  /// Why it is paused; nil if it is not.
  public let pauseReason: String?
  /// What it did since the process started.
  public let counts: FunctionCounts
}
