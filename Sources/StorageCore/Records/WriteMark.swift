/// A place in a batch.
public struct WriteMark: Sendable, Hashable {
  /// How much the batch held when the mark was set; means something to its session only.
  public let position: Int

  public init(position: Int) {
    self.position = position
  }
}
