/// A JSON text as a value, with nothing lost that the tree must keep apart.
///
/// Integers stay Int64 and are never blurred into doubles or booleans; members keep their order and their exact bytes, so
/// two spellings of `é` are two members. Repeated members are kept: who reads the object decides (the tree takes the last).
public enum JSON: Sendable {
  /// One member of an object.
  public struct Member: Sendable, Hashable {
    /// The name, as written; compared by its bytes.
    public let key: String
    /// The value.
    public let value: JSON

    /// A member of an object.
    public init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction and exponent that fits Int64.
  case int(Int64)
  /// Any other number; finite.
  case double(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSON])
  /// A list of members in the order of the text.
  case object([Member])

  /// The value of the last member with this name, compared byte by byte; nil where there is none, or no object.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key.hasSameBytes(as: name) }?.value
  }

  /// The text, if this is one.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The number, if it is integral and fits Int64: `5` and `5.0` alike.
  public var int: Int64? {
    switch self {
    case .int(let value): value
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number as a double, if this is one.
  public var double: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// The boolean, if this is one.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The members, if this is an object.
  public var object: [Member]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The elements, if this is an array.
  public var array: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension JSON: Hashable {
  /// Exact equality: texts by their bytes, `1` and `1.0` apart.
  public static func == (a: JSON, b: JSON) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.int(let x), .int(let y)): x == y
    case (.double(let x), .double(let y)): x == y
    case (.string(let x), .string(let y)): x.hasSameBytes(as: y)
    case (.array(let x), .array(let y)): x == y
    case (.object(let x), .object(let y)): x == y
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

extension JSON.Member {
  /// Exact equality: the name by its bytes.
  public static func == (a: JSON.Member, b: JSON.Member) -> Bool {
    a.key.hasSameBytes(as: b.key) && a.value == b.value
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    var key = self.key
    key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(value)
  }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  /// `null`, written in the source.
  public init(nilLiteral: ()) { self = .null }
  /// A boolean written in the source.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer written in the source.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A double written in the source.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A text written in the source.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list written in the source.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// An object written in the source; the members keep their order.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Member(key: $0.0, value: $0.1) })
  }
}

extension String {
  /// Equality of the UTF-8 bytes. Swift's `==` merges different spellings of one character.
  func hasSameBytes(as other: String) -> Bool {
    var a = self
    var b = other
    return a.withUTF8 { x in b.withUTF8 { y in x.count == y.count && x.elementsEqual(y) } }
  }
}

extension JSON {
  /// An object of the members that are there, in their order.
  public init(fields: [(String, JSON?)]) {
    self = .object(fields.compactMap { name, value in value.map { Member(key: name, value: $0) } })
  }
}

extension JSON {
  /// The value as text on one line.
  public var compactText: String { text(pretty: false) }

  /// The value as indented text.
  public var prettyText: String { text(pretty: true) }

  private func text(pretty: Bool) -> String {
    var writer = JSONWriter(pretty: pretty)
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with the text.
  public enum Reason: Sendable, Hashable {
    /// No value at all.
    case empty
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte that is not allowed here.
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

  /// Where the error was noticed, in bytes from the start of the text.
  public let offset: Int
  /// What is wrong there.
  public let reason: Reason

  /// An error at an offset of the text.
  public init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }

  /// A sentence for the sender of the text.
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
