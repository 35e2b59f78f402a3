import TreeModel

/// A captured segment of the event's path, or a value of the event, is not of the type that the path gives it. The run is
/// skipped as `type_mismatch`, with what was expected and what was found.
struct TypeMismatch: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}

extension TreeNode {
  /// The node, a value of an event, as its type.
  func decoded<Value: Decodable>() throws(TypeMismatch) -> Value {
    do {
      return try TreeNodeDecoder.decode(Value.self, from: self)
    } catch {
      throw TypeMismatch(ValueTypeError.words(error))
    }
  }
}
