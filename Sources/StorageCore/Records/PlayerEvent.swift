public import TreeModel

/// Something that a function, or an administrator, says of a player, for what waits for it: in-app messages.
///
/// It rides along with a request, and is kept only where something waits for it.
public struct PlayerEvent: Sendable, Hashable {
  /// A value of the event.
  public struct Parameter: Sendable, Hashable {
    /// Letters, digits and underscores.
    public let name: String
    /// What it is.
    public let value: Scalar

    public init(name: String, value: Scalar) {
      self.name = name
      self.value = value
    }
  }

  /// Parameters that an event may have.
  public static let parametersMax = 20
  /// Of a parameter that is a text, in bytes.
  public static let textMax = 1000

  /// The player.
  public let uid: String
  /// 1 to 40 of `a-z` and `_`.
  public let name: String
  /// In the order in which they were given.
  public let parameters: [Parameter]
  /// A second event under the same name and key is none.
  public let once: String

  public init(uid: String, name: String, parameters: [Parameter], once: String) {
    self.uid = uid
    self.name = name
    self.parameters = parameters
    self.once = once
  }
}
