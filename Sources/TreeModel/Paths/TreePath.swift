/// A path in the tree with types: of the value there, and of its captured segments.
///
/// ```swift
/// enum Users {
///   static let level = TreePath<Int, UserID>("/users/{uid}/level")
/// }
/// ```
/// Functions of the server and apps are written against the same declaration. The pattern needs one capture for each parameter
/// type. A path that does not fit its types is a mistake of the programmer: whatever uses it throws ``TreePathError``.
@available(macOS 14, iOS 17, tvOS 17, *)
public struct TreePath<Value: Codable & Sendable, each P: PathParameter>: Sendable {
  /// The path as it was read, or what is wrong with it.
  public let reading: Result<TypedPattern, TreePathError>

  /// A path, written like `/users/{uid}/level`.
  public init(_ text: String) {
    let pattern: PathPattern
    do {
      pattern = try PathPattern(parsing: text)
    } catch {
      reading = .failure(TreePathError("TreePath(\"\(text)\"): \(error)"))
      return
    }
    var arePlayers: [Bool] = []
    for type in repeat (each P).self { arePlayers.append(type == UserID.self) }
    let names = pattern.captureNames
    guard names.count == arePlayers.count else {
      reading = .failure(
        TreePathError(
          "TreePath(\"\(text)\") has \(names.count) captures and \(arePlayers.count) parameter types; "
            + "give one type for each."))
      return
    }
    let players = zip(names, arePlayers).filter(\.1).map(\.0)
    reading = .success(TypedPattern(pattern: pattern, players: Set(players)))
  }

  /// The path for these parameters.
  ///
  /// - Throws: `PathError` for a parameter that is no key, ``TreePathError`` if the path itself cannot be read.
  public func path(_ parameters: repeat each P) throws -> Path {
    var segments: [String] = []
    for parameter in repeat each parameters { segments.append(parameter.pathSegment) }
    return try reading.get().pattern.path(filling: segments)
  }
}

/// A pattern whose captures have types.
public struct TypedPattern: Sendable {
  /// The path with its captures open.
  public let pattern: PathPattern
  /// The captures that are players: those typed ``UserID``.
  public let players: Set<String>
}

/// A ``TreePath`` whose text is no pattern, or does not fit its types.
public struct TreePathError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Which path, and what is wrong with it.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

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
/// another path in the tree.
public struct UserID: PathParameter, Codable, CustomStringConvertible {
  /// The id as it is written in paths.
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
