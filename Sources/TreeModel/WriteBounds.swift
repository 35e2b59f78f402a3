/// How much data one write may carry. It is counted while the data is read, so that what is too much gets no further.
public struct WriteBounds: Sendable, Hashable {
  /// Leaves, priorities and deletions.
  public let leavesMax: Int
  /// Bytes of leaf values and of the paths to them.
  public let bytesMax: Int

  /// Bounds of a write.
  public init(leavesMax: Int, bytesMax: Int) {
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
  }

  /// Whatever is there is read.
  public static let none = WriteBounds(leavesMax: .max, bytesMax: .max)

  /// Values of JSON that may be parsed for such a write: a leaf with its priority is at most six, and lies in maps of its own.
  public var valuesMax: Int { leavesMax > .max / 10 ? .max : leavesMax * 10 }
}

/// What is left of the bounds of a write.
struct WriteMeter {
  private var leavesLeft: Int
  private var bytesLeft: Int

  init(_ bounds: WriteBounds) {
    leavesLeft = bounds.leavesMax
    bytesLeft = bounds.bytesMax
  }

  /// Counts a leaf, a priority or a deletion.
  mutating func count(bytes: Int) throws(WriteDataError) {
    leavesLeft -= 1
    bytesLeft -= bytes
    if leavesLeft < 0 || bytesLeft < 0 { throw WriteDataError(.tooLarge) }
  }
}
