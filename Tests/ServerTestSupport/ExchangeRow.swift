package import Testing

/// One row of a table test: a request, and what the answer must be.
package struct ExchangeRow: Sendable {
  package let method: String
  package let path: String
  package var body: String?
  package var headers: [String: String] = [:]
  package var status = 200
  /// The exact body; nil if it does not matter.
  var expected: String?
  /// Headers that the answer must have; an empty value: must not have.
  var expectedHeaders: [String: String] = [:]

  package init(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:], status: Int = 200,
    is expected: String? = nil, having expectedHeaders: [String: String] = [:]
  ) {
    self.method = method
    self.path = path
    self.body = body
    self.headers = headers
    self.status = status
    self.expected = expected
    self.expectedHeaders = expectedHeaders
  }

  func check(on server: APIServer, sourceLocation: SourceLocation) async throws {
    let response = try await server.send(method, path, body, headers: headers)
    #expect(response.status == status, "\(method) \(path): \(response.body)", sourceLocation: sourceLocation)
    if let expected {
      #expect(response.body == expected, "\(method) \(path)", sourceLocation: sourceLocation)
    }
    for (name, value) in expectedHeaders {
      let found = response[name] ?? ""
      #expect(found == value, "\(method) \(path): \(name)", sourceLocation: sourceLocation)
    }
  }
}

extension APIServer {
  /// Sends the rows one after the other.
  package func expect(_ rows: ExchangeRow..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for row in rows { try await row.check(on: self, sourceLocation: sourceLocation) }
  }

  /// The error body of the Firebase surfaces.
  package static func error(_ text: String) -> String { "{\"error\":\"\(text)\"}" }
}
