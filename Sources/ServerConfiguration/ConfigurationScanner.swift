import TreeModel

/// Reads the JSON of configuration files: with `//` and `/* */` comments, as the rules' files have them, and a comma behind
/// the last member, which people leave there when they move lines.
struct ConfigurationScanner {
  /// The largest file, in bytes.
  static let bytesMax = 1 << 20
  private static let nestingMax = 32

  private let bytes: [UInt8]
  private var at = 0
  /// The last place that was asked for.
  private var known = (offset: 0, line: 1, column: 1)

  /// The one value of a file.
  static func value(of source: [UInt8]) throws(ConfigurationError) -> ConfigurationValue {
    let start = ConfigurationError.Position(line: 1, column: 1)
    guard source.count <= bytesMax else { throw ConfigurationError(at: start, "The file is larger than 1 MB.") }
    guard String(validating: source, as: UTF8.self) != nil else {
      throw ConfigurationError(at: start, "The file is not UTF-8.")
    }
    var scanner = ConfigurationScanner(source.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(source.dropFirst(3)) : source)
    let value = try scanner.value(nesting: 0)
    try scanner.skipBlank()
    guard scanner.at == scanner.bytes.count else {
      throw scanner.fault("The configuration ends with its last \"}\"; remove what comes behind it.")
    }
    return value
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  // MARK: Places

  private mutating func position(_ offset: Int) -> ConfigurationError.Position {
    if offset < known.offset { known = (0, 1, 1) }
    while known.offset < offset {
      let byte = bytes[known.offset]
      known.offset += 1
      if byte == UInt8(ascii: "\n") {
        known.line += 1
        known.column = 1
      } else if peek(known.offset).map({ $0 & 0xC0 != 0x80 }) ?? true {
        known.column += 1
      }
    }
    return ConfigurationError.Position(line: known.line, column: known.column)
  }

  private mutating func fault(_ message: String, at offset: Int? = nil) -> ConfigurationError {
    ConfigurationError(at: position(min(offset ?? at, bytes.count)), message)
  }

  private func peek(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  // MARK: Between the values

  private mutating func skipBlank() throws(ConfigurationError) {
    while let byte = peek(at) {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): at += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(ConfigurationError) {
    let start = at
    switch peek(at + 1) {
    case UInt8(ascii: "/"):
      while let byte = peek(at), byte != UInt8(ascii: "\n") { at += 1 }
    case UInt8(ascii: "*"):
      at += 2
      while !(peek(at) == UInt8(ascii: "*") && peek(at + 1) == UInt8(ascii: "/")) {
        guard at < bytes.count else { throw fault("This comment does not end; close it with */.", at: start) }
        at += 1
      }
      at += 2
    default: throw fault("Unexpected \"/\"; a comment begins with // or /*.")
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek(at) == byte else { return false }
    at += 1
    return true
  }

  // MARK: Values

  private mutating func value(nesting: Int) throws(ConfigurationError) -> ConfigurationValue {
    try skipBlank()
    guard nesting <= Self.nestingMax else { throw fault("Objects and lists stand inside each other too deeply.") }
    let place = position(at)
    let content: ConfigurationValue.Content
    switch peek(at) {
    case UInt8(ascii: "{"): content = .object(try members(nesting: nesting))
    case UInt8(ascii: "["): content = .array(try elements(nesting: nesting))
    case nil: throw fault("The configuration ends too early: a value is missing.")
    default: content = try scalar()
    }
    return ConfigurationValue(content: content, position: place)
  }

  private mutating func members(nesting: Int) throws(ConfigurationError) -> [ConfigurationValue.Member] {
    at += 1
    var members: [ConfigurationValue.Member] = []
    while true {
      try skipBlank()
      if take(UInt8(ascii: "}")) { return members }
      guard peek(at) == UInt8(ascii: "\"") else { throw fault("Expected a name in double quotes, or \"}\".") }
      let place = position(at)
      guard case .string(let key) = try scalar() else { throw fault("Expected a name in double quotes.") }
      if members.contains(where: { $0.key == key }) {
        throw ConfigurationError(at: place, "\"\(key)\" stands here twice; keep one.")
      }
      try skipBlank()
      guard take(UInt8(ascii: ":")) else { throw fault("Expected \":\" behind \"\(key)\".") }
      members.append(.init(key: key, position: place, value: try value(nesting: nesting + 1)))
      try skipBlank()
      if take(UInt8(ascii: "}")) { return members }
      guard take(UInt8(ascii: ",")) else { throw fault("Expected \",\" or \"}\".") }
    }
  }

  private mutating func elements(nesting: Int) throws(ConfigurationError) -> [ConfigurationValue] {
    at += 1
    var elements: [ConfigurationValue] = []
    while true {
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
      elements.append(try value(nesting: nesting + 1))
      try skipBlank()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw fault("Expected \",\" or \"]\".") }
    }
  }

  /// A string, a number or a word: cut out here, read by the parser that reads all JSON of the house.
  private mutating func scalar() throws(ConfigurationError) -> ConfigurationValue.Content {
    let start = at
    if take(UInt8(ascii: "\"")) {
      while let byte = peek(at), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\n") {
        at += byte == UInt8(ascii: "\\") ? 2 : 1
      }
      guard take(UInt8(ascii: "\"")) else {
        throw fault("This text does not end on its line; close it with a double quote.", at: start)
      }
    } else {
      while let byte = peek(at), byte.isWordByte { at += 1 }
    }
    guard at > start else {
      throw fault("Expected a value: a text in double quotes, a number, true, false, a list or an object.")
    }
    do {
      switch try JSONParser.parse(Array(bytes[start..<at])) {
      case .null: return .null
      case .bool(let value): return .bool(value)
      case .int(let value): return .int(value)
      case .double(let value): return .double(value)
      case .string(let value): return .string(value)
      case .array, .object: throw fault("Expected a value.", at: start)
      }
    } catch let error as ConfigurationError {
      throw error
    } catch {
      let text = String(decoding: bytes[start..<at], as: UTF8.self)
      throw fault("\(text) is no value: texts stand in double quotes, and other values are numbers, true and false.", at: start)
    }
  }
}

extension UInt8 {
  /// Whether the byte belongs to a word or a number outside of texts.
  fileprivate var isWordByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}

/// A value of a configuration file, with its place.
struct ConfigurationValue: Sendable {
  struct Member: Sendable {
    let key: String
    let position: ConfigurationError.Position
    let value: ConfigurationValue
  }

  indirect enum Content: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([ConfigurationValue])
    case object([Member])
  }

  let content: Content
  let position: ConfigurationError.Position

  /// What kind of value it is, for a sentence.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .int, .double: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The value without its places.
  var json: JSON {
    switch content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.value.json) })
    }
  }

  /// The member of that name; nil where there is none, or no object.
  subscript(name: String) -> Member? {
    guard case .object(let members) = content else { return nil }
    return members.last { $0.key == name }
  }
}

/// One thing that is wrong with a configuration file, and where.
struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A place in the file: line and column from 1, the column in Unicode scalars.
  struct Position: Sendable, Hashable, Comparable {
    let line: Int
    let column: Int

    static func < (a: Position, b: Position) -> Bool { (a.line, a.column) < (b.line, b.column) }
  }

  let position: Position
  /// What is wrong, and what to do.
  let message: String

  init(at position: Position, _ message: String) {
    self.position = position
    self.message = message
  }

  /// As tools show it behind the file's name: `3:14: text`.
  var description: String { "\(position.line):\(position.column): \(message)" }
}
