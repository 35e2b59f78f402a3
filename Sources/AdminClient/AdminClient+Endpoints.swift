package import AdminModel
package import NIOCore
import NIOHTTP1
import TextFormats
package import TreeModel

/// What an endpoint answered.
package struct AdminAnswer<Value: Sendable>: Sendable {
  /// As the server sent it: a newer one may say more than this program knows.
  package let json: JSON
  package let value: Value
  /// 200, or another status whose body is an answer.
  package let status: Int

  package init(json: JSON, value: Value, status: Int = 200) {
    self.json = json
    self.value = value
    self.status = status
  }

  /// The elements of a list in the answer, each with what the server sent of it.
  package func elements<Element>(_ name: String, values: [Element]) -> [AdminAnswer<Element>] {
    zip(json[name]?.array ?? [], values).map { AdminAnswer<Element>(json: $0, value: $1, status: status) }
  }
}

extension AdminClient {
  /// Asks an endpoint, and reads its answer as a value.
  ///
  /// - `captures`: the values of the captures in the endpoint's template, not encoded.
  /// - `namespace`: nil for the server's default.
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func call<Query, Body, Answer>(
    _ endpoint: Endpoint<Query, Body, Answer>, at captures: [String] = [], query: Query, body: Body, namespace: String? = nil,
    timeout: TimeAmount? = nil, responseBytesMax: Int? = nil
  ) async throws -> AdminAnswer<Answer> {
    let json = JSON(encoding: body)
    return try await call(
      endpoint, at: captures, query: query, document: json.isNull ? [:] : json, namespace: namespace, timeout: timeout,
      responseBytesMax: responseBytesMax)
  }

  package func call<Answer>(
    _ endpoint: Endpoint<NoQuery, NoBody, Answer>, at captures: [String] = [], namespace: String? = nil,
    timeout: TimeAmount? = nil
  ) async throws -> AdminAnswer<Answer> {
    try await call(endpoint, at: captures, query: NoQuery(), body: NoBody(), namespace: namespace, timeout: timeout)
  }

  package func call<Answer>(
    _ endpoint: Endpoint<ReasonQuery, NoBody, Answer>, at captures: [String] = [], reason: String? = nil,
    namespace: String? = nil, timeout: TimeAmount? = nil
  ) async throws -> AdminAnswer<Answer> {
    try await call(
      endpoint, at: captures, query: ReasonQuery(reason: reason), body: NoBody(), namespace: namespace, timeout: timeout)
  }

  package func call<Query, Answer>(
    _ endpoint: Endpoint<Query, NoBody, Answer>, at captures: [String] = [], query: Query, namespace: String? = nil,
    timeout: TimeAmount? = nil, responseBytesMax: Int? = nil
  ) async throws -> AdminAnswer<Answer> {
    try await call(
      endpoint, at: captures, query: query, body: NoBody(), namespace: namespace, timeout: timeout,
      responseBytesMax: responseBytesMax)
  }

  package func call<Body, Answer>(
    _ endpoint: Endpoint<NoQuery, Body, Answer>, at captures: [String] = [], body: Body, namespace: String? = nil,
    timeout: TimeAmount? = nil
  ) async throws -> AdminAnswer<Answer> {
    try await call(endpoint, at: captures, query: NoQuery(), body: body, namespace: namespace, timeout: timeout)
  }

  package func call<Answer>(
    _ endpoint: Endpoint<NoQuery, EmptyBody, Answer>, at captures: [String] = [], namespace: String? = nil,
    timeout: TimeAmount? = nil
  ) async throws -> AdminAnswer<Answer> {
    try await call(endpoint, at: captures, query: NoQuery(), body: EmptyBody(), namespace: namespace, timeout: timeout)
  }

  /// The same with a body that a person wrote: the server says what is wrong with it.
  package func call<Query, Body, Answer>(
    _ endpoint: Endpoint<Query, Body, Answer>, at captures: [String] = [], query: Query, document: JSON,
    namespace: String? = nil, timeout: TimeAmount? = nil, responseBytesMax: Int? = nil
  ) async throws -> AdminAnswer<Answer> {
    var items = [QueryItem("ns", namespace)].compactMap(\.self)
    items += (JSON(encoding: query).object ?? []).map { QueryItem($0.key, $0.value.string ?? $0.value.compactText) }
    let response = try await send(
      HTTPMethod(rawValue: endpoint.method.rawValue), endpoint.path(captures), query: items,
      body: Body.self == NoBody.self ? nil : Array(document.compactText.utf8), timeout: timeout,
      responseBytesMax: responseBytesMax)
    let json = try endpoint.others[response.status] == nil ? response.checked().json() : response.json()
    do {
      return AdminAnswer(json: json, value: try json.decoded(), status: response.status)
    } catch {
      throw AdminClientError(
        .badResponse, "\(address) answered something else than this program expects: it may be another version. \(error)",
        cause: error)
    }
  }
}

extension Endpoint {
  /// The path of a request, percent-encoded. What stands for several segments keeps its slashes.
  package func path(_ captures: [String]) -> String {
    var rest = captures[...]
    return template.split(separator: "/").map { piece in
      guard piece.hasPrefix("{") else { return "/\(piece)" }
      guard let text = rest.popFirst() else { preconditionFailure("\(template) has more captures than were given.") }
      guard piece.hasSuffix("...}") else { return "/\(PercentEncoding.encode(text))" }
      return text.split(separator: "/", omittingEmptySubsequences: false).map { "/\(PercentEncoding.encode($0))" }.joined()
    }.joined()
  }
}
