/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with the text.
  public enum Reason: Sendable, Hashable {
    /// No value at all.
    case empty
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte that cannot stand here.
    case unexpectedCharacter
    /// Something follows the value.
    case trailingBytes
    /// Arrays and objects inside each other beyond the limit.
    case tooDeep
    /// A number of no legal form: `01`, `1.`, `+1`, `1e`.
    case badNumber
    /// A number beyond the range of a double.
    case numberOutOfRange
    /// A control character inside a string.
    case controlCharacter
    /// A backslash before something that has no meaning.
    case badEscape
    /// Half of a surrogate pair.
    case loneSurrogate
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// More values than the reader of the text has use for.
    case tooManyValues
  }

  /// Where the fault was noticed, in bytes from the start of the text.
  public let offset: Int
  /// What is wrong there.
  public let reason: Reason

  /// A fault at a place of the text.
  public init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }

  /// A sentence for whoever sent the text.
  public var description: String { "Invalid JSON at byte \(offset): \(sentence)" }

  private var sentence: String {
    switch reason {
    case .empty: "there is no value."
    case .unexpectedEnd: "the text ends inside a value."
    case .unexpectedCharacter: "this character cannot stand here; names and texts need double quotes."
    case .trailingBytes: "the value is complete, but more text follows."
    case .tooDeep: "arrays and objects are nested too deeply."
    case .badNumber: "a number needs digits, has no leading zero, and digits after its point and exponent."
    case .numberOutOfRange: "the number is beyond the range of a double."
    case .controlCharacter: "write control characters inside a string as escapes, such as \\n or \\u0007."
    case .badEscape: "a backslash must be followed by one of \" \\ / b f n r t or u and four hexadecimal digits."
    case .loneSurrogate: "a \\u escape holds half of a surrogate pair."
    case .invalidUTF8: "the string is not UTF-8."
    case .tooManyValues: "there are too many values; send them in parts."
    }
  }
}
