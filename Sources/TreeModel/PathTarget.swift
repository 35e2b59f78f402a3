/// What a path from outside addresses: a node, or the priority of a node.
public struct PathTarget: Sendable, Hashable, CustomStringConvertible {
  /// The node.
  public let path: Path
  /// Whether only the node's priority is meant: the path ended in `/.priority`.
  public let isPriority: Bool

  /// A node, or its priority.
  public init(path: Path, isPriority: Bool = false) {
    self.path = path
    self.isPriority = isPriority
  }

  /// Reads a slash-separated path whose last segment may be `.priority`; superfluous slashes are ignored.
  ///
  /// - Throws: ``PathError`` for an illegal key, `.priority` before the end, and a path deeper than ``Path/depthMax``.
  public init(parsing text: some StringProtocol) throws(PathError) {
    var keys: [Key] = []
    var isPriority = false
    // By bytes: a key may begin with a combining mark, which Swift would make one character with the slash.
    for utf8 in String(text).utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
      let piece = Substring(utf8)
      if isPriority { throw PathError(.reservedKey, key: ".priority") }
      if piece == ".priority" {
        isPriority = true
      } else {
        keys.append(try Key(piece))
      }
    }
    guard keys.count <= Path.depthMax else { throw PathError(.tooDeep, key: "") }
    self.init(path: Path(keys: keys), isPriority: isPriority)
  }

  /// The path as people write it: `/a/b`, `/a/b/.priority`.
  public var description: String {
    guard isPriority else { return path.description }
    return path.isRoot ? "/.priority" : "\(path)/.priority"
  }
}
