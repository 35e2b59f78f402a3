/// A place in a batch.
public struct WriteMark: Sendable, Hashable {
  public let position: Int

  public init(position: Int) {
    self.position = position
  }
}
