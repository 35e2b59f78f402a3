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

  /// A sentence for whoever sent the path.
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
