import NIOCore
import NIOHTTP1
package import TreeModel

/// A request that found its route, with what the route's target answers with.
package struct APICall<Services: Sendable>: Sendable {
  package let request: HTTPRequest
  /// The values of the route template's captures.
  package let captures: [String: String]
  package let query: QueryString
  package let caller: Caller
  package let services: Services

  /// The same request with other services.
  func with<Other>(_ services: Other) -> APICall<Other> {
    APICall<Other>(request: request, captures: captures, query: query, caller: caller, services: services)
  }

  /// The body, an object; an empty body is an empty object.
  package func body() throws -> JSON {
    guard let bytes = request.body, bytes.readableBytes > 0 else { return .object([]) }
    let json: JSON
    do {
      json = try bytes.withUnsafeReadableBytes { try JSONParser.parse($0) }
    } catch {
      throw APIError.badRequest("\(error)")
    }
    guard json.object != nil else { throw APIError.badRequest("The body must be a JSON object.") }
    return json
  }

  /// A parameter that must be there.
  package func required(_ name: String) throws -> String {
    guard let value = query[name], !value.isEmpty else { throw APIError.badRequest("The parameter \(name) is missing.") }
    return value
  }

  /// A parameter that names a player, or anything else that is a key of the tree; nil if it is missing.
  package func key(_ name: String) throws -> Key? {
    guard let text = query[name] else { return nil }
    do {
      return try Key(text)
    } catch {
      throw APIError.badRequest("\(name): \(error.description)")
    }
  }

  package func integer(_ name: String) throws -> Int64? {
    guard let text = query[name] else { return nil }
    guard let value = Int64(text) else { throw APIError.badRequest("\(name) must be an integer.") }
    return value
  }

  /// How many rows to list.
  package func limit(default fallback: Int = 50, max: Int = 1000) throws -> Int {
    guard let limit = try integer("limit") else { return fallback }
    guard limit > 0, limit <= Int64(max) else { throw APIError.badRequest("limit must be 1 to \(max).") }
    return Int(limit)
  }
}

extension JSON {
  /// A text member that must be there.
  package func required(_ name: String) throws -> String {
    guard let value = self[name]?.string, !value.isEmpty else {
      throw APIError.badRequest("\"\(name)\" must be a text that is not empty.")
    }
    return value
  }

  /// A text member that may be missing or null, but nothing else.
  package func optional(_ name: String) throws -> String? {
    guard let value = self[name], !value.isNull else { return nil }
    guard let text = value.string else { throw APIError.badRequest("\"\(name)\" must be a text.") }
    return text
  }

  package func requiredInteger(_ name: String) throws -> Int64 {
    guard let value = self[name]?.int else { throw APIError.badRequest("\"\(name)\" must be an integer.") }
    return value
  }

  package func optionalInteger(_ name: String) throws -> Int64? {
    guard let value = self[name], !value.isNull else { return nil }
    guard let number = value.int else { throw APIError.badRequest("\"\(name)\" must be an integer.") }
    return number
  }
}

extension JSON {
  /// An object of what is there.
  package static func record(_ members: [(String, JSON?)]) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(key: name, value: $0) } })
  }
}
