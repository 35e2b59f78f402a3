/// Why a body, or the path it was sent to, cannot be a write; the text tells the client what to change.
public struct WriteDataError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// A key or a path is not legal.
    case path(PathError)
    /// Two paths of an update lie inside each other.
    case overlap(WriteOperationError)
    /// The body of an update is not an object.
    case updateNotAnObject
    /// `.value` or `.sv` has children beside it.
    case valueBesideChildren
    /// `.value` is an array or an object.
    case valueNotPrimitive
    /// `.sv` is neither `"timestamp"` nor `{"increment": number}`.
    case unknownServerValue
    /// A server value where only plain data may stand.
    case serverValueNotAllowed
    /// A priority that is neither string, number, null nor server value.
    case illegalPriority
    /// A string of more than ``WriteNode/stringBytesMax`` bytes.
    case stringTooLong
    /// A number that is not finite.
    case numberNotFinite
    /// More than the ``WriteBounds`` allow.
    case tooLarge
  }

  /// What is wrong.
  public let code: Code
  /// Where in the data, relative to the place written.
  public let path: Path

  /// A fault at a place of the data.
  public init(_ code: Code, at path: Path = .root) {
    self.code = code
    self.path = path
  }

  /// A sentence for the client, with the place of the fault.
  public var description: String {
    switch code {
    case .path(let error): error.description
    case .overlap(let error): error.description
    case .updateNotAnObject:
      "Invalid data: an update needs a JSON object whose names are paths; use a set to replace the whole location."
    case .valueBesideChildren: "\(place): .value and .sv cannot have children beside them, only .priority."
    case .valueNotPrimitive: "\(place): .value must be a string, a number, a boolean, null or a server value."
    case .unknownServerValue:
      "\(place): unknown server value; write {\".sv\": \"timestamp\"} or {\".sv\": {\"increment\": 1}}."
    case .serverValueNotAllowed: "\(place): server values are not allowed in imported data; write the value itself."
    case .illegalPriority: "\(place): .priority must be a string, a finite number, null or a server value."
    case .stringTooLong: "\(place): the string is longer than \(WriteNode.stringBytesMax) bytes of UTF-8; split it."
    case .numberNotFinite: "\(place): numbers must be finite."
    // The hosted service's own words (Firebase REST reference, `writeSizeLimit`).
    case .tooLarge: "Data to write exceeds the maximum size that can be modified with a single request."
    }
  }

  private var place: String { "Invalid data at \(path)" }
}
