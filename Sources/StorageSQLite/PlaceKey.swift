internal import StorageCore
internal import TreeModel

/// A row of the table `index_place`, without its namespace.
struct PlaceKey: Hashable, Comparable {
  let index: IndexID
  let parent: PathBytes
  let place: IndexPlace

  static func < (a: PlaceKey, b: PlaceKey) -> Bool {
    if a.index != b.index { return a.index < b.index }
    return a.parent == b.parent ? a.place < b.place : a.parent < b.parent
  }
}
