package import TreeModel

extension JSON {
  /// The value on one line as people read it: texts without quotes, objects as `name value, name value`.
  var plainText: String {
    switch self {
    case .null: "-"
    case .string(let text): text
    case .object(let members): members.map { "\($0.key) \($0.value.plainText)" }.joined(separator: ", ")
    case .array(let elements): elements.map(\.plainText).joined(separator: ", ")
    default: compactText
    }
  }

  /// A moment: milliseconds since 1970 as RFC 3339, a text as it is, nothing as a dash.
  var timeText: String {
    if let milliseconds = int { return TimePoint(milliseconds: milliseconds).description }
    return string ?? "-"
  }

  /// The rows of a listing; none if it is missing.
  package func listed(_ name: String) -> [JSON] { self[name]?.array ?? [] }
}
