public import TreeModel

/// An index that the rules declare, and how far it is.
///
/// An index has a place (`IndexPlace`) for every child of every node that its pattern matches. From the moment that the record
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
