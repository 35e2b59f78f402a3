public import TreeModel

/// Where the tree says who referred a player: `/users/{uid}/referred_by`.
public struct ReferralPlace: Sendable {
  /// The place, with the player's id as its one capture.
  public let pattern: PathPattern
  private let filter: PatternFilter

  /// - Parameter pattern: has one capture, of one key; another one is a mistake of the programmer and traps.
  public init(_ pattern: PathPattern) {
    let open = pattern.segments.filter { if case .literal = $0 { false } else { true } }
    guard open.count == 1, case .single(_?) = open[0] else {
      preconditionFailure("The referrer's place \(pattern) needs exactly one open segment: the player's id.")
    }
    self.pattern = pattern
    filter = PatternFilter(pattern)
  }

  /// Whose referrer stands at exactly this place; nil if nobody's does.
  func player(at path: PathBytes) -> String? {
    guard filter.mayHold(path), !path.isPriority, let readable = path.path else { return nil }
    return pattern.match(readable)?.first?.value
  }

  /// Where a player's referrer stands; nil if the id is no legal key.
  func path(of player: String) -> PathBytes? {
    guard (try? Key(player)) != nil, let path = try? pattern.path(filling: [player]) else { return nil }
    return PathBytes(path)
  }

  /// The node whose children are the players.
  var players: PathBytes {
    pattern.segments.prefix { if case .literal = $0 { true } else { false } }.reduce(.root) { path, segment in
      if case .literal(let key) = segment { path.child(key) } else { path }
    }
  }

  /// Who is meant by what stands at the place: one legal key, else nobody.
  static func referrer(_ scalar: Scalar?) -> String? {
    guard let text = scalar?.stringValue, (try? Key(text)) != nil else { return nil }
    return text
  }
}
