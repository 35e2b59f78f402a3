/// A JSON value of a rules file, with its place.
struct RulesValue {
  struct Member {
    let key: String
    let keyPosition: RulesPosition
    let value: RulesValue
  }

  enum Content {
    case string(String)
    case bool(Bool)
    case number
    case null
    case array([RulesValue])
    case object([Member])
  }

  let content: Content
  let position: RulesPosition
}
