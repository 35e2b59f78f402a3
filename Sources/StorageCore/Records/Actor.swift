/// Who did something.
public enum Actor: Sendable, Hashable, CustomStringConvertible {
  /// An administrator, by the name of the credential; rules do not apply.
  case admin(String)
  /// A signed-in user.
  case user(uid: String)
  /// A client without credentials.
  case anonymous
  /// The effect of a function.
  case function(String)
  /// The engine itself: an import, a restore.
  case system(String)

  public var description: String {
    switch self {
    case .admin(let name): "admin:\(name)"
    case .user(let uid): "user:\(uid)"
    case .anonymous: "anonymous"
    case .function(let name): "function:\(name)"
    case .system(let name): "system:\(name)"
    }
  }

  /// Reads what ``description`` wrote.
  public init?(_ text: String) {
    if text == "anonymous" {
      self = .anonymous
      return
    }
    // By bytes: a name may begin with a combining mark, which Swift would make one character with the colon.
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = String(text[text.utf8.index(after: colon)...])
    switch text[..<colon] {
    case "admin": self = .admin(name)
    case "user": self = .user(uid: name)
    case "function": self = .function(name)
    case "system": self = .system(name)
    default: return nil
    }
  }
}
