import StorageCore
import TreeModel

/// Where in the tree functions look for a player's key.
struct PlayerPlaces {
  let uid: Key
  /// What the patterns of balances call a player: a capture of this name is one.
  private let names: Set<String>

  init(of uid: Key, _ currencies: [Currency]) {
    self.uid = uid
    names = Set(currencies.flatMap(\.pattern.captureNames))
  }

  /// Which segment of a pattern holds the player: the capture that is called as in a balance's place, else the first
  /// capture of one key; nil if there is none.
  func segment(of pattern: PathPattern) -> Int? {
    let singles = pattern.segments.indices.filter { index in
      if case .single(name: .some) = pattern.segments[index] { true } else { false }
    }
    return singles.first { Self.name(pattern.segments[$0]).map(names.contains) == true } ?? singles.first
  }

  private static func name(_ segment: PathPattern.Segment) -> String? {
    if case .single(let name) = segment { name } else { nil }
  }

  /// The keys that are known of every place that a pattern matches for the player; nil if the player's key is not among
  /// them, because something before it is open.
  func known(of pattern: PathPattern) -> [Key]? {
    guard let segment = segment(of: pattern) else { return nil }
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

  /// Whether a path that a pattern matches has the player at the player's segment.
  func concerns(_ path: Path, _ pattern: PathPattern) -> Bool {
    guard let segment = segment(of: pattern), let match = pattern.match(path) else { return false }
    return Self.name(pattern.segments[segment]).flatMap { match[$0] } == uid.text
  }

  /// The subtrees that hold every event of the player, by the patterns of the functions that there ever were; nil if some
  /// pattern's are spread over the tree, or nothing is known of patterns.
  func all(_ patterns: [String]) -> [PathBytes]? {
    var places: Set<PathBytes> = []
    for text in patterns {
      guard let pattern = try? PathPattern(parsingOwn: text) else { return nil }
      let literals = pattern.segments.compactMap { segment in if case .literal(let key) = segment { key } else { nil } }
      if literals.count == pattern.segments.count {
        if literals.contains(uid) { places.insert(PathBytes(Path(keys: literals))) }
        continue
      }
      guard let keys = known(of: pattern) else { return nil }
      // Up to the player: every pattern of players together, and keys that only look like one.
      let end = (keys.lastIndex(of: uid) ?? 0) + 1
      places.insert(PathBytes(Path(keys: Array(keys[..<end]))))
    }
    return patterns.isEmpty ? nil : Array(places)
  }
}
