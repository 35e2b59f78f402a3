import TextFormats
import TreeModel

/// Reads the JSON of configuration files: with comments, and a comma behind the last member, which people leave there when
/// they move lines.
enum ConfigurationScanner {
  /// The largest file, in bytes.
  static let bytesMax = 1 << 20
  private static let dialect = CommentedJSON.Dialect(
    nestingMax: 32, allowsControlCharacters: false, refusesDuplicateKeys: true)

  /// The one value of a file.
  static func value(of source: [UInt8]) throws(ConfigurationError) -> ConfigurationValue {
    let start = ConfigurationError.Position(line: 1, column: 1)
    guard source.count <= bytesMax else { throw ConfigurationError(at: start, "The file is larger than 1 MB.") }
    guard String(validating: source, as: UTF8.self) != nil else {
      throw ConfigurationError(at: start, "The file is not UTF-8.")
    }
    let json: CommentedJSON
    do throws(CommentedJSONError) {
      json = try CommentedJSON.parse(CommentedJSON.withoutByteOrderMark(source), as: dialect)
    } catch {
      throw ConfigurationError(at: ConfigurationError.Position(error.position), message(error.reason))
    }
    return try value(of: json)
  }

  private static func value(of json: CommentedJSON) throws(ConfigurationError) -> ConfigurationValue {
    let position = ConfigurationError.Position(json.position)
    let content: ConfigurationValue.Content
    switch json.content {
    case .null: content = .null
    case .bool(let bool): content = .bool(bool)
    case .number(let text):
      switch try? JSONParser.parse(text) {
      case .int(let number)?: content = .int(number)
      case .double(let number)?: content = .double(number)
      default: throw ConfigurationError(at: position, message(.notAValue(text)))
      }
    case .string(let text): content = .string(text.text)
    case .array(let elements):
      var values: [ConfigurationValue] = []
      for element in elements { values.append(try value(of: element)) }
      content = .array(values)
    case .object(let members):
      var values: [ConfigurationValue.Member] = []
      for member in members {
        let position = ConfigurationError.Position(member.keyPosition)
        values.append(.init(key: member.key, position: position, value: try value(of: member.value)))
      }
      content = .object(values)
    }
    return ConfigurationValue(content: content, position: position)
  }

  private static func message(_ reason: CommentedJSONError.Reason) -> String {
    switch reason {
    case .trailingContent: "The configuration ends with its last \"}\"; remove what comes behind it."
    case .commentNotClosed: "This comment does not end; close it with */."
    case .unexpectedSlash: "Unexpected \"/\"; a comment begins with // or /*."
    case .nestedTooDeeply: "Objects and lists stand inside each other too deeply."
    case .valueMissing: "The configuration ends too early: a value is missing."
    case .notAValue(""): "Expected a value: a text in double quotes, a number, true, false, a list or an object."
    case .notAValue(let text):
      "\(text) is no value: texts stand in double quotes, and other values are numbers, true and false."
    case .expectedKey: "Expected a name in double quotes, or \"}\"."
    case .expectedColon(let key): "Expected \":\" behind \"\(key)\"."
    case .expectedSeparator(let closing): "Expected \",\" or \"\(closing)\"."
    case .duplicateKey(let key): "\"\(key)\" is written twice; keep one."
    case .stringNotClosed: "This text does not end on its line; close it with a double quote."
    case .controlCharacter: "A text cannot hold control characters; write a tab as \\t."
    case .unknownEscape: "Unknown escape in a text; double a backslash that is meant as one."
    case .badUnicodeEscape: "\\u needs four hexadecimal digits."
    case .loneSurrogate: "Half of a surrogate pair in a text."
    }
  }
}

extension ConfigurationError.Position {
  fileprivate init(_ position: CommentedJSON.Position) {
    self.init(line: position.line, column: position.column)
  }
}

/// A value of a configuration file, with its position.
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

  /// The value without positions.
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
  /// A position in the file: line and column from 1, the column in Unicode scalars.
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
