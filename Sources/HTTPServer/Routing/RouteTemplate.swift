/// The path of a route: literal segments, `{name}` for one segment, `{name...}` for one or more.
///
/// At most one segment takes several, so a match is never ambiguous; event ids, which hold slashes, need it.
package struct RouteTemplate: Sendable, ExpressibleByStringLiteral {
  private enum Segment: Sendable {
    case literal(String)
    case one(String)
    case many(String)
  }

  package let text: String
  /// How many segments are given: of two templates that match, the one with more of them was meant.
  let literalCount: Int
  private let segments: [Segment]

  package init(stringLiteral text: String) {
    self.text = text
    segments = text.split(separator: "/").map { piece in
      guard piece.hasPrefix("{"), piece.hasSuffix("}") else { return .literal(String(piece)) }
      let name = piece.dropFirst().dropLast()
      return name.hasSuffix("...") ? .many(String(name.dropLast(3))) : .one(String(name))
    }
    literalCount = segments.count { if case .literal = $0 { true } else { false } }
    precondition(
      segments.count { if case .many = $0 { true } else { false } } <= 1, "\(text): one segment may take several, not two.")
  }

  /// What the open segments stand for in a path, given as decoded segments; nil if it does not match.
  func match(_ path: [String]) -> [String: String]? {
    let spare = path.count - segments.count
    guard spare >= 0 else { return nil }
    var captures: [String: String] = [:]
    var at = 0
    for segment in segments {
      guard at < path.count else { return nil }
      switch segment {
      case .literal(let text):
        guard path[at] == text else { return nil }
        at += 1
      case .one(let name):
        captures[name] = path[at]
        at += 1
      case .many(let name):
        captures[name] = path[at...at + spare].joined(separator: "/")
        at += spare + 1
      }
    }
    return at == path.count ? captures : nil
  }
}
