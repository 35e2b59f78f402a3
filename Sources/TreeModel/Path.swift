/// A location in the tree: the keys from the root down. The empty path is the root.
public struct Path: Sendable, Hashable {
  /// The keys, outermost first.
  public var keys: [Key]

  /// The deepest level that data may stand on (spec: rtdb-protocol §1).
  public static let depthMax = 32

  /// The path without keys.
  public static let root = Path(keys: [])

  /// A path of keys, outermost first.
  public init(keys: [Key]) {
    self.keys = keys
  }

  /// Reads a slash-separated path; leading, trailing and doubled slashes are ignored.
  ///
  /// - Throws: ``PathError`` if a key is illegal or the path is deeper than ``depthMax``.
  public init(parsing text: some StringProtocol) throws(PathError) {
    var keys: [Key] = []
    // By bytes: a key may begin with a combining mark, which Swift would make one character with the slash.
    for utf8 in String(text).utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
      let piece = Substring(utf8)
      keys.append(try Key(piece))
    }
    guard keys.count <= Self.depthMax else { throw PathError(.tooDeep, key: "") }
    self.keys = keys
  }

  /// How many keys the path has.
  public var depth: Int { keys.count }
  /// Whether this is the root.
  public var isRoot: Bool { keys.isEmpty }
  /// The name of the node there; nil for the root.
  public var lastKey: Key? { keys.last }
  /// The path one level up; nil for the root.
  public var parent: Path? { keys.isEmpty ? nil : Path(keys: Array(keys.dropLast())) }

  /// The path one level down.
  public func child(_ key: Key) -> Path {
    var keys = self.keys
    keys.append(key)
    return Path(keys: keys)
  }

  /// This path followed by another.
  public func appending(_ other: Path) -> Path {
    other.isRoot ? self : Path(keys: keys + other.keys)
  }

  /// Whether `other` is this location or lies below it.
  public func contains(_ other: Path) -> Bool {
    other.keys.count >= keys.count && zip(keys, other.keys).allSatisfy { $0 == $1 }
  }
}

extension Path: CustomStringConvertible {
  /// The path as people write it: `/users/bob`; the root is `/`.
  public var description: String {
    "/" + keys.map(\.text).joined(separator: "/")
  }
}

extension Path: ExpressibleByStringLiteral {
  /// A path written in the source. An illegal one is a mistake of the programmer and traps.
  public init(stringLiteral text: String) {
    do {
      self = try Path(parsing: text)
    } catch {
      preconditionFailure("\(text): \(error)")
    }
  }
}
