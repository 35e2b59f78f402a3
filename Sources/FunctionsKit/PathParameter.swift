import TreeModel

/// A type that a captured segment of a path can have.
public protocol PathParameter: Sendable, Hashable {
  /// Reads a captured segment; nil if it is not one of this type, and the function is then skipped as `type_mismatch`.
  init?(pathSegment: String)
  /// The segment that stands for this value in a path.
  var pathSegment: String { get }
}

extension String: PathParameter {
  public init?(pathSegment: String) { self = pathSegment }
  public var pathSegment: String { self }
}

extension Int: PathParameter {
  /// Reads digits in their shortest spelling; nil for `007` and `+7`, which would lead back to another key.
  public init?(pathSegment: String) {
    guard let value = Int(pathSegment), String(value) == pathSegment else { return nil }
    self = value
  }
  public var pathSegment: String { String(self) }
}

/// A player's id: one legal key of the tree.
///
/// It cannot be made from a text with `/` or another character that keys do not have, so that a forged id never leads to
/// another place in the tree (spec: triggers-ledger §2, rule 21).
public struct UserID: PathParameter, Codable, CustomStringConvertible {
  /// The id as it stands in paths.
  public let text: String

  /// Checks an id; nil if it is no legal key.
  public init?(_ text: String) {
    guard (try? Key(text)) != nil else { return nil }
    self.text = text
  }

  public init?(pathSegment: String) { self.init(pathSegment) }
  public var pathSegment: String { text }
  public var description: String { text }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = UserID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "A user id is one legal key of the tree.")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  public static func == (a: UserID, b: UserID) -> Bool { Key(unchecked: a.text) == Key(unchecked: b.text) }
  public func hash(into hasher: inout Hasher) { Key(unchecked: text).hash(into: &hasher) }
}

extension UserID: ExpressibleByStringLiteral {
  /// An id written in the source, as tests do. Nobody forges that: it is checked where a path is made with it, which throws
  /// for an illegal one.
  public init(stringLiteral text: String) {
    self.text = text
  }
}
