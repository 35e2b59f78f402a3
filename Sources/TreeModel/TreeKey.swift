/// A coding key made from a child's name or an element's position.
struct TreeKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Key(unchecked: stringValue).integer.map(Int.init)
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  /// The name of a base class's part.
  static let base = TreeKey(stringValue: "super")
}
