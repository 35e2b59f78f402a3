public import TreeModel

/// Where a rule node stands: keys, and variables that take any key.
public struct RulePattern: Sendable, Hashable, CustomStringConvertible {
  /// One level.
  public enum Segment: Sendable, Hashable {
    /// This key.
    case literal(Key)
    /// Any key; the name has its `$`.
    case variable(String)
  }

  /// Outermost first; none for the root.
  public let segments: [Segment]

  public init(segments: [Segment] = []) {
    self.segments = segments
  }

  func appending(_ segment: Segment) -> RulePattern {
    RulePattern(segments: segments + [segment])
  }

  /// On which level each variable stands.
  var levels: [String: Int] {
    var levels: [String: Int] = [:]
    for (level, segment) in segments.enumerated() {
      if case .variable(let name) = segment { levels[name] = level }
    }
    return levels
  }

  /// As the rules have it: `/users/$uid/items`; the root is `/`.
  public var description: String {
    "/" + segments.map(\.name).joined(separator: "/")
  }

  /// The same for every name that a variable may have: `/users/$/items`.
  public var shape: String {
    "/"
      + segments.map { segment in
        switch segment {
        case .literal(let key): key.text
        case .variable: "$"
        }
      }.joined(separator: "/")
  }
}

extension RulePattern.Segment {
  /// The key, or the variable with its `$`.
  var name: String {
    switch self {
    case .literal(let key): key.text
    case .variable(let name): name
    }
  }
}
