import TreeModel

/// What an administrator asked for, in a few words: `name pay, reason "bad deploy"`, `body rules {3 members}`.
enum AuditDetail {
  /// Characters of one value.
  private static let valueMax = 48

  static func text(_ detail: JSON) -> String {
    guard let members = detail.object else { return value(detail) }
    return members.map { member in
      switch member.key {
      case "bodyBytes": "body of \((member.value.int ?? 0).byteText)"
      case "body": body(member.value)
      default: "\(member.key) \(value(member.value))"
      }
    }.joined(separator: ", ")
  }

  /// A body by its members; what is nested by how much it is.
  private static func body(_ body: JSON) -> String {
    guard let members = body.object else { return "body \(value(body))" }
    return members.map { "\($0.key) \(value($0.value))" }.joined(separator: ", ")
  }

  private static func value(_ value: JSON) -> String {
    switch value {
    case .object(let members) where !members.isEmpty: "{\(members.count.counted("member", "members"))}"
    case .array(let elements) where !elements.isEmpty: "[\(elements.count.counted("element", "elements"))]"
    default: cut(value.plainText)
    }
  }

  /// A text that is not too long for a cell.
  static func cut(_ text: String) -> String {
    text.count <= valueMax ? text : "\(text.prefix(valueMax - 3))..."
  }
}
