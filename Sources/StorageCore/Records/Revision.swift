/// The state of one namespace's tree: 0 is empty, every commit adds 1.
public struct Revision: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The empty tree, before the first commit.
  public static let zero = Revision(0)
  /// The state after one more commit.
  public var next: Revision { Revision(rawValue + 1) }
  /// The state that this commit was applied to.
  public var previous: Revision { Revision(rawValue - 1) }

  public static func < (a: Revision, b: Revision) -> Bool { a.rawValue < b.rawValue }
  public var description: String { String(rawValue) }
}
