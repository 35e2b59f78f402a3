/// A location in the tree: the keys from the root down. The empty path is the root.
public struct Path: Sendable, Hashable {
  /// The keys, outermost first.
  public var keys: [Key]

  /// The deepest level that data may stand on (Firebase, "Realtime Database Limits").
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

/// Why a text is not a path or a key.
public struct PathError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// A key without characters.
    case emptyKey
    /// A key of more than ``Key/bytesMax`` bytes.
    case keyTooLong
    /// A key with `. $ # [ ] /` or a control character.
    case forbiddenCharacter
    /// More than ``Path/depthMax`` levels.
    case tooDeep
    /// A name in the data that begins with a dot and has no meaning.
    case reservedKey
    /// A pattern that stands for no single path, with so many values.
    case unfilledPattern
  }

  /// What is wrong.
  public let code: Code
  /// The offending key, cut to a printable length.
  public let key: String

  /// A fault of a key or path.
  public init(_ code: Code, key: String) {
    self.code = code
    self.key = key
  }

  /// A sentence for the sender of the path.
  public var description: String {
    switch code {
    case .emptyKey: "Invalid path: a key must not be empty."
    case .keyTooLong: "Invalid path: the key that begins with \"\(key)\" is longer than \(Key.bytesMax) bytes of UTF-8."
    case .forbiddenCharacter:
      "Invalid path: the key \"\(key)\" contains a character that keys cannot have: . $ # [ ] / or a control character."
    case .tooDeep: "Invalid path: the tree is at most \(Path.depthMax) levels deep."
    case .unfilledPattern: "Invalid path: the pattern \"\(key)\" has other open segments than there are values for them."
    case .reservedKey: "Invalid data: \"\(key)\" is not allowed here; only .value, .priority and .sv begin with a dot."
    }
  }
}

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
