public import TreeModel

/// An index that the rules declare, and how far it is.
///
/// An index has a place (`IndexEntry`) for every child of every node that its pattern matches. From the moment that the record
/// is there each commit keeps the places of the children that it touches.
public struct IndexRecord: Sendable, Hashable {
  /// How far an index is.
  public enum State: String, Sendable {
    /// The children behind the cursor have no places yet, unless they were written since.
    case building
    /// Every child has its place.
    case ready
    /// The rules have it no more: its places are being removed.
    case dropping
  }

  /// Its number.
  public let id: IndexID
  /// Where the parents stand, as the rules have it: `/users/$uid/items`.
  public let pattern: String
  /// The order's name: `.value`, `.priority`, or the path of a child.
  public let order: String
  /// How far it is.
  public var state: State
  /// Where building goes on: everything before has its place. Nil: at the beginning.
  public var cursor: PathBytes?
  /// How many children building has placed.
  public var childCount: Int64

  public init(
    id: IndexID, pattern: String, order: String, state: State = .building, cursor: PathBytes? = nil, childCount: Int64 = 0
  ) {
    self.id = id
    self.pattern = pattern
    self.order = order
    self.state = state
    self.cursor = cursor
    self.childCount = childCount
  }
}

/// The number of an index in its namespace.
public struct IndexID: RawRepresentable, Sendable, Hashable, Comparable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  public static func < (a: IndexID, b: IndexID) -> Bool { a.rawValue < b.rawValue }
}

/// A namespace's rules file, as it was uploaded.
public struct RulesRecord: Sendable, Hashable {
  /// The file's text, with its comments.
  public let source: String
  /// Milliseconds since 1970.
  public let updatedAt: Int64
  /// The last number that was given to an index of the namespace; none is given twice.
  public let lastIndex: Int64

  public init(source: String, updatedAt: Int64, lastIndex: Int64) {
    self.source = source
    self.updatedAt = updatedAt
    self.lastIndex = lastIndex
  }
}
