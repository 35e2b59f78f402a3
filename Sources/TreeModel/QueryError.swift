/// Why a query object is not a query.
public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// The query is no JSON object.
    case notAnObject
    /// The index is neither `.key`, `.value`, `.priority` nor a legal path.
    case illegalIndex
    /// A bound is no string, number, boolean or null.
    case illegalBound
    /// A bound in key order is no string.
    case illegalKeyBound
    /// The limit is no positive integer, or its side neither `l` nor `r`.
    case illegalLimit
  }

  /// What is wrong.
  public let code: Code

  /// A fault of a query.
  public init(_ code: Code) {
    self.code = code
  }

  /// A sentence for the client.
  public var description: String {
    switch code {
    case .notAnObject: "Invalid query: it must be a JSON object."
    case .illegalIndex: "Invalid query: the index must be .key, .value, .priority or the path of a child."
    case .illegalBound: "Invalid query: a bound must be a string, a number, a boolean or null, and its key a string."
    case .illegalKeyBound: "Invalid query: in key order a bound must be a key, as a string."
    case .illegalLimit: "Invalid query: a limit must be a positive integer, counted from l or r."
    }
  }
}
