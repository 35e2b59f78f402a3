/// Why a text is not a path pattern.
public struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// Two captures have one name.
    case duplicateName
    /// Braces or an asterisk stand for a part of a segment only.
    case partialSegment
    /// More than one `**`.
    case severalMultiSegments
    /// A capture without a name.
    case emptyName
    /// Behind `=` stands something else than `*` or `**`.
    case unknownForm
    /// A literal segment that is not a legal key, or too many segments.
    case path(PathError)
  }

  /// What is wrong.
  public let code: Code
  /// The segment with the fault.
  public let segment: String

  /// A fault of a segment.
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
