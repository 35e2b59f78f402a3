/// The name of a signing key, as tokens carry it in their header (`kid`).
public struct KeyID: Sendable, Hashable, CustomStringConvertible {
  /// The name, as it is written.
  public let text: String

  public init(_ text: String) {
    self.text = text
  }

  public var description: String { text }
}
