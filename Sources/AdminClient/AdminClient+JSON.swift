package import NIOCore
package import NIOHTTP1
package import TreeModel

extension AdminClient {
  /// Asks for a JSON value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func get(_ path: String, query: [QueryItem] = [], timeout: TimeAmount? = nil) async throws(AdminClientError) -> JSON {
    try await send(.GET, path, query: query, timeout: timeout).checked().json()
  }

  /// Posts a JSON value and reads the answer as one.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func post(
    _ path: String, _ body: JSON = .object([]), query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws(AdminClientError) -> JSON {
    try await exchange(.POST, path, body, query: query, headers: headers, timeout: timeout)
  }

  /// Puts a JSON value and reads the answer as one.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func put(
    _ path: String, _ body: JSON, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws(AdminClientError) -> JSON {
    try await exchange(.PUT, path, body, query: query, headers: headers, timeout: timeout)
  }

  /// Patches with a JSON object and reads the answer as a value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func patch(
    _ path: String, _ body: JSON, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws(AdminClientError) -> JSON {
    try await exchange(.PATCH, path, body, query: query, headers: headers, timeout: timeout)
  }

  /// Deletes, and reads the answer as a value.
  ///
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func delete(
    _ path: String, query: [QueryItem] = [], headers: HTTPHeaders = [:], timeout: TimeAmount? = nil
  ) async throws(AdminClientError) -> JSON {
    try await send(.DELETE, path, query: query, headers: headers, timeout: timeout).checked().json()
  }

  private func exchange(
    _ method: HTTPMethod, _ path: String, _ body: JSON, query: [QueryItem], headers: HTTPHeaders, timeout: TimeAmount?
  ) async throws(AdminClientError) -> JSON {
    var writer = JSONWriter()
    writer.write(body)
    return try await send(method, path, query: query, headers: headers, body: writer.bytes, timeout: timeout).checked().json()
  }

  /// Where the database's REST surface has a path: percent-encoded, with `.json`.
  ///
  /// - Parameter path: `/users/bob` as people write it; a last segment `.priority` addresses the node's priority.
  package static func treePath(_ path: String) -> String {
    let segments = path.split(separator: "/").map { PercentEncoding.segment($0) }
    return "/" + segments.joined(separator: "/") + ".json"
  }
}
