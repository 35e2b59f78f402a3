/// A path in which some segments are open.
///
/// | Segment | Matches | Captures |
/// |---|---|---|
/// | `users` | that key | nothing |
/// | `{uid}`, `{uid=*}` | any one key | it |
/// | `*` | any one key | nothing |
/// | `{rest=**}` | one or more keys | them, joined by `/` |
/// | `**` | one or more keys | nothing |
///
/// At most one segment is a multi-segment, so a match is never ambiguous. Without one, a pattern matches only paths of its
/// own length.
public struct PathPattern: Sendable {
  /// One segment; the name is nil if nothing is captured.
  public enum Segment: Sendable, Hashable {
    /// This key.
    case literal(Key)
    /// Any one key.
    case single(name: String?)
    /// One or more keys.
    case multi(name: String?)

    var name: String? {
      switch self {
      case .literal: nil
      case .single(let name), .multi(let name): name
      }
    }
  }

  /// The segments, outermost first; none for the root.
  public let segments: [Segment]

  /// Reads a pattern; leading, trailing and doubled slashes are ignored.
  ///
  /// - Throws: ``PatternError`` for illegal literal keys, repeated or empty names, captures of a part of a segment, and more
  ///   than one multi-segment.
  public init(parsing text: some StringProtocol) throws(PatternError) {
    var segments: [Segment] = []
    var names: Set<String> = []
    var hasMulti = false
    // By bytes: a key may begin with a combining mark, which Swift would make one character with the slash.
    for utf8 in String(text).utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
      let piece = String(Substring(utf8))
      let segment = try Self.segment(piece)
      if let name = segment.name, !names.insert(name).inserted {
        throw PatternError(.duplicateName, segment: piece)
      }
      if case .multi = segment {
        if hasMulti { throw PatternError(.severalMultiSegments, segment: piece) }
        hasMulti = true
      }
      segments.append(segment)
    }
    guard segments.count <= Path.depthMax else {
      throw PatternError(.path(PathError(.tooDeep, key: "")), segment: String(text))
    }
    self.segments = segments
  }

  /// The same pattern below ``Key/accounts``, which no text can name.
  public var belowAccounts: PathPattern { PathPattern(segments: [.literal(.accounts)] + segments) }

  private init(segments: [Segment]) {
    self.segments = segments
  }

  private static func segment(_ text: String) throws(PatternError) -> Segment {
    if text == "*" { return .single(name: nil) }
    if text == "**" { return .multi(name: nil) }
    if text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) { return try capture(text) }
    if text.utf8.contains(UInt8(ascii: "*")) { throw PatternError(.partialSegment, segment: text) }
    do {
      return .literal(try Key(text))
    } catch {
      throw PatternError(.path(error), segment: text)
    }
  }

  /// Reads a segment with braces.
  private static func capture(_ text: String) throws(PatternError) -> Segment {
    let inner = text.dropFirst().dropLast()
    guard text.utf8.count >= 2, text.utf8.first == UInt8(ascii: "{"), text.utf8.last == UInt8(ascii: "}"),
      !inner.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") })
    else { throw PatternError(.partialSegment, segment: text) }
    let parts = inner.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard !name.isEmpty else { throw PatternError(.emptyName, segment: text) }
    guard !name.utf8.contains(UInt8(ascii: "*")) else { throw PatternError(.partialSegment, segment: text) }
    switch parts.count == 2 ? parts[1] : "*" {
    case "*": return .single(name: name)
    case "**": return .multi(name: name)
    default: throw PatternError(.unknownForm, segment: text)
    }
  }

  /// The names of the captures, in order.
  public var captureNames: [String] { segments.compactMap(\.name) }

  /// Matches a whole path.
  ///
  /// - Returns: what was captured, raw; nil if the path does not match.
  public func match(_ path: Path) -> Captures? {
    // Accounts are no part of the tree: only patterns below ``Key/accounts`` match them.
    if path.isAccounts, segments.first != .literal(.accounts) { return nil }
    // How many keys a multi-segment takes follows from the lengths: all other segments take one each.
    let spare = path.depth - segments.count
    var captures: [Captures.Capture] = []
    var at = 0
    for segment in segments {
      var width = 1
      if case .multi = segment { width += spare }
      guard width >= 1, at + width <= path.depth else { return nil }
      if case .literal(let key) = segment, path.keys[at] != key { return nil }
      if let name = segment.name {
        let value = path.keys[at..<at + width].map(\.text).joined(separator: "/")
        captures.append(Captures.Capture(name: name, value: value))
      }
      at += width
    }
    return at == path.depth ? Captures(captures) : nil
  }
}

extension PathPattern: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The pattern in its shortest spelling: `/users/{uid}/**`; the root is `/`.
  public var description: String {
    "/" + segments.map(\.description).joined(separator: "/")
  }

  /// A pattern written in the source. An illegal one is a mistake of the programmer and traps.
  public init(stringLiteral text: String) {
    do {
      self = try PathPattern(parsing: text)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

extension PathPattern.Segment: CustomStringConvertible {
  /// The segment in its shortest spelling.
  public var description: String {
    switch self {
    case .literal(let key): key.text
    case .single(let name): name.map { "{\($0)}" } ?? "*"
    case .multi(let name): name.map { "{\($0)=**}" } ?? "**"
    }
  }
}

extension PathPattern {
  /// The path in which every capture stands for a given value, in the pattern's order; a multi-segment's value may have
  /// several keys, joined by `/`.
  ///
  /// - Throws: ``PathError`` if a value is no legal key, if there are more or fewer values than captures, or if the pattern has
  ///   an open segment without a name: patterns come from settings, too.
  public func path(filling values: [String]) throws(PathError) -> Path {
    guard values.count == captureNames.count else { throw PathError(.unfilledPattern, key: description) }
    var keys: [Key] = []
    var next = values.makeIterator()
    for segment in segments {
      switch segment {
      case .literal(let key): keys.append(key)
      case .single(.some):
        keys.append(try Key(next.next() ?? ""))
      case .multi(.some):
        keys.append(contentsOf: try Path(parsing: next.next() ?? "").keys)
      case .single(nil), .multi(nil):
        throw PathError(.unfilledPattern, key: description)
      }
    }
    guard keys.count <= Path.depthMax else { throw PathError(.tooDeep, key: "") }
    return Path(keys: keys)
  }
}

/// Why a text is not a path pattern.
public struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// Two captures have one name.
    case duplicateName
    /// Braces or an asterisk are only a part of a segment.
    case partialSegment
    /// More than one `**`.
    case severalMultiSegments
    /// A capture without a name.
    case emptyName
    /// Something other than `*` or `**` follows `=`.
    case unknownForm
    /// A literal segment that is not a legal key, or too many segments.
    case path(PathError)
  }

  /// What is wrong.
  public let code: Code
  /// The segment with the error.
  public let segment: String

  /// An error in a segment.
  public init(_ code: Code, segment: String) {
    self.code = code
    self.segment = segment
  }

  /// A sentence for the author of the pattern.
  public var description: String {
    switch code {
    case .duplicateName: "Invalid pattern: \(segment) uses a capture name for the second time; give it another name."
    case .partialSegment:
      "Invalid pattern: \(segment) mixes a capture with other characters; a capture stands for a whole segment."
    case .severalMultiSegments: "Invalid pattern: \(segment) is the second multi-segment; only one is unambiguous."
    case .emptyName: "Invalid pattern: \(segment) has no name; write {name}, or * for a segment without a capture."
    case .unknownForm: "Invalid pattern: in \(segment) only * or ** can follow the equals sign."
    case .path(let error): "Invalid pattern: \(error)"
    }
  }
}

/// The parts of a path that a ``PathPattern`` captured, in the pattern's order.
///
/// Values are the keys as stored: nothing is percent-decoded.
public struct Captures: Sendable, Hashable {
  /// One captured part.
  public struct Capture: Sendable, Hashable {
    /// The name in the pattern.
    public let name: String
    /// The key; of a multi-segment, the keys joined by `/`.
    public let value: String

    /// A captured part.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var captures: [Capture]

  /// Captures in order; no name may occur twice.
  public init(_ captures: [Capture] = []) {
    self.captures = captures
  }

  /// The value captured under a name; nil if the pattern has no such name.
  public subscript(name: String) -> String? {
    captures.first { $0.name == name }?.value
  }
}

extension Captures: RandomAccessCollection {
  /// The position of the first capture.
  public var startIndex: Int { captures.startIndex }
  /// The position after the last capture.
  public var endIndex: Int { captures.endIndex }
  /// The capture at a position.
  public subscript(position: Int) -> Capture { captures[position] }
}
