package import StorageCore
package import TreeModel

/// Where in the tree functions look for a player's key.
package struct PlayerPaths {
  package let uid: Key
  /// What the patterns of balances call a player.
  private let names: Set<String>
  /// The captures that are players, by the patterns of the registered functions.
  private let players: [String: Set<String>]

  package init(of uid: Key, currencies: [Currency], functions: [FunctionDescription]) {
    self.uid = uid
    names = Set(currencies.flatMap(\.pattern.captureNames))
    players = Dictionary(functions.map { ($0.pattern.description, $0.players) }) { $0.union($1) }
  }

  /// Which segment of a registered function's pattern holds the player: of the captures that are typed as players the one
  /// that is called as in a balance's path, else the first; nil if there is none.
  func segment(of pattern: PathPattern) -> Int? {
    let players = players[pattern.description] ?? []
    return segment(of: pattern) { players.contains($0) }
  }

  /// Which segment holds the player, by the names of captures alone: for functions that are no longer registered.
  private func guessedSegment(of pattern: PathPattern) -> Int? {
    segment(of: pattern) { _ in true }
  }

  private func segment(of pattern: PathPattern, where isPlayer: (String) -> Bool) -> Int? {
    let singles = pattern.segments.indices.filter { Self.name(pattern.segments[$0]).map(isPlayer) == true }
    return singles.first { Self.name(pattern.segments[$0]).map(names.contains) == true } ?? singles.first
  }

  private static func name(_ segment: PathPattern.Segment) -> String? {
    if case .single(let name) = segment { name } else { nil }
  }

  /// The keys that are known of every path that a pattern matches for the player; nil if the player's key is not among
  /// them, because something before it is open.
  func known(of pattern: PathPattern) -> [Key]? {
    segment(of: pattern).flatMap { known(of: pattern, player: $0) }
  }

  private func known(of pattern: PathPattern, player segment: Int) -> [Key]? {
    var keys: [Key] = []
    for (index, piece) in pattern.segments.enumerated() {
      if case .literal(let key) = piece {
        keys.append(key)
      } else if index == segment {
        keys.append(uid)
      } else {
        return index > segment ? keys : nil
      }
    }
    return keys
  }

  /// Whether an event is the player's: at a path where the function looks for players, one of the captures that are players;
  /// for a function that is no longer registered, any key.
  func concerns(_ event: EventID, of function: FunctionDescription?) -> Bool {
    guard let path = event.path.path else { return false }
    guard let function else { return path.keys.contains(uid) }
    guard let match = function.pattern.match(path) else { return false }
    return function.players.contains { match[$0] == uid.text }
  }

  /// Whether a path that a pattern matches has the player at the player's segment.
  func concerns(_ path: Path, matching pattern: PathPattern) -> Bool {
    guard let segment = segment(of: pattern), let match = pattern.match(path) else { return false }
    return Self.name(pattern.segments[segment]).flatMap { match[$0] } == uid.text
  }

  /// The subtrees that hold every event of the player, by the patterns of the functions that there ever were; nil if some
  /// pattern's are spread over the tree, or nothing is known of patterns.
  package func all(_ patterns: [String]) -> [PathBytes]? {
    var paths: Set<PathBytes> = []
    for text in patterns {
      guard let pattern = try? PathPattern(parsingInternal: text) else { return nil }
      let literals = pattern.segments.compactMap { segment in if case .literal(let key) = segment { key } else { nil } }
      if literals.count == pattern.segments.count {
        if literals.contains(uid) { paths.insert(PathBytes(Path(keys: literals))) }
        continue
      }
      guard let segment = segment(of: pattern) ?? guessedSegment(of: pattern), let keys = known(of: pattern, player: segment)
      else { return nil }
      // Up to the player: every pattern of players together, and keys that only look like one.
      let end = (keys.lastIndex(of: uid) ?? 0) + 1
      paths.insert(PathBytes(Path(keys: Array(keys[..<end]))))
    }
    return patterns.isEmpty ? nil : Array(paths)
  }
}
