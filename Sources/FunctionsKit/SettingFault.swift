/// What is wrong with one setting of a function.
public struct SettingFault: Sendable, Hashable {
  /// The function's name.
  public let function: String
  /// The setting; nil where it is not known which.
  public let setting: String?
  /// What is wrong, and what to do.
  public let message: String
}
