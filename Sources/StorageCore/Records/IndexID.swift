/// The number of an index in its namespace.
public struct IndexID: RawRepresentable, Sendable, Hashable, Comparable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  public static func < (a: IndexID, b: IndexID) -> Bool { a.rawValue < b.rawValue }
}
