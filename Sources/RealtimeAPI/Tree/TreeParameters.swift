import HTTPServer
import NIOCore
import TreeModel

/// The query parameters of a REST request (Firebase's REST reference, query parameters), read and checked.
struct TreeParameters: Sendable {
  enum Printing: Sendable {
    case normal
    case pretty
    /// 204 and no body.
    case silent
  }

  private(set) var namespace: String?
  private(set) var printing = Printing.normal
  private(set) var isShallow = false
  private(set) var format = TreeFormat.plain
  /// The function of a JSONP answer.
  private(set) var callback: String?
  private(set) var download: String?
  private(set) var timeout: TimeAmount?
  /// `writeSizeLimit=unlimited`; the other names set times that no write here comes near.
  private(set) var isUnlimited = false
  private(set) var suppressesTriggers = false
  private(set) var isImport = false
  private(set) var methodOverride: String?
  private(set) var accessToken: String?
  private(set) var idToken: String?
  private(set) var authOverride: String?
  /// The parameters of a query, as text.
  private(set) var query = QueryParameters()

  init(_ string: QueryString) throws(APIError) {
    for parameter in string.parameters { try read(parameter.name, parameter.value) }
  }

  private mutating func read(_ name: String, _ value: String) throws(APIError) {
    switch name {
    case "ns": namespace = value
    case "auth": idToken = value
    case "access_token": accessToken = value
    case "auth_variable_override": authOverride = value
    case "x-http-method-override": methodOverride = value
    case "print": printing = try Self.printing(value)
    case "shallow": isShallow = try Self.bool(name, value)
    case "format":
      guard value == "export" else { throw .badRequest("format must be \"export\"; leave it out for plain data.") }
      format = .export
    case "callback": callback = try Self.callback(value)
    case "download": download = try Self.fileName(value)
    case "timeout": timeout = try Self.timeout(value)
    case "writeSizeLimit": isUnlimited = try Self.isUnlimited(value)
    case "disableTriggers": suppressesTriggers = try Self.bool(name, value)
    case "import": isImport = try Self.bool(name, value)
    default: query.take(name, value)
    }
  }

  private static func printing(_ value: String) throws(APIError) -> Printing {
    switch value {
    case "pretty": .pretty
    case "silent": .silent
    default: throw .badRequest("print must be \"pretty\" or \"silent\"; leave it out for compact JSON.")
    }
  }

  private static func bool(_ name: String, _ value: String) throws(APIError) -> Bool {
    switch value {
    case "true": true
    case "false": false
    default: throw .badRequest("\(name) must be true or false.")
    }
  }

  /// Only names that a script can call: anything else would let a link run code of its maker in the reader's page.
  private static func callback(_ value: String) throws(APIError) -> String {
    let isName = value.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: "$"):
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): index > 0
      default: false
      }
    }
    guard isName, !value.isEmpty, value.utf8.count <= 128 else {
      throw .badRequest("callback must be the name of a JavaScript function: letters, digits, _, $ and dots.")
    }
    return value
  }

  private static func fileName(_ value: String) throws(APIError) -> String {
    let forbidden = Set("\"\\/;".utf8)
    guard !value.isEmpty, value.utf8.count <= 255,
      value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && !forbidden.contains($0) })
    else { throw .badRequest("download must be a plain ASCII file name, without quotes, slashes and semicolons.") }
    return value
  }

  /// `3ms`, `3s`, `3min`; more than 0, at most 15 minutes.
  private static func timeout(_ value: String) throws(APIError) -> TimeAmount {
    let digits = value.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch value[digits.endIndex...] {
      case "ms": 1
      case "s": 1000
      case "min": 60_000
      default: nil
      }
    guard let count = Int64(digits), let unit, count > 0, count <= 900_000 / unit else {
      throw .badRequest("timeout must be a number with ms, s or min behind it, above 0 and at most 15min.")
    }
    return .milliseconds(count * unit)
  }

  private static func isUnlimited(_ value: String) throws(APIError) -> Bool {
    switch value {
    case "tiny", "small", "medium", "large": false
    case "unlimited": true
    default: throw .badRequest("writeSizeLimit must be tiny, small, medium, large or unlimited.")
    }
  }
}
