/// The state of one namespace's tree: 0 is empty, every commit adds 1.
public struct Revision: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  public static let zero = Revision(0)
  public var next: Revision { Revision(rawValue + 1) }
  public var previous: Revision { Revision(rawValue - 1) }

  public static func < (a: Revision, b: Revision) -> Bool { a.rawValue < b.rawValue }
  public var description: String { String(rawValue) }
}
