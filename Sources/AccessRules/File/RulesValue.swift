/// A JSON value of a rules file, with its place.
struct RulesValue {
  struct Member {
    let key: String
    let keyPosition: RulesPosition
    let value: RulesValue
  }

  enum Content {
    case string(RulesText)
    /// With the place of its first byte in the file.
    case bool(Bool, offset: Int)
    case number
    case null
    case array([RulesValue])
    case object([Member])
  }

  let content: Content
  let position: RulesPosition
}
