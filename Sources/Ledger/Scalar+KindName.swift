import TreeModel

extension Scalar {
  /// What kind of value it is, for people; not the value, which is a player's.
  var kindName: String {
    switch self {
    case .bool: "a boolean"
    case .int: "an integer"
    case .double: "a number that is no 64-bit integer"
    case .string: "a string"
    }
  }
}
