extension String {
  /// Whether two texts are the same bytes.
  ///
  /// Swift's `==` merges `é` typed as one code point and as `e` with an accent. The tree, SQLite and the clients keep them
  /// apart, so names and keys of the ledger must too: two players would share one account otherwise.
  func hasSameBytes(as other: String) -> Bool {
    var a = self
    var b = other
    return a.withUTF8 { x in b.withUTF8 { y in x.count == y.count && x.elementsEqual(y) } }
  }

  /// Feeds the bytes that ``hasSameBytes(as:)`` compares.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
