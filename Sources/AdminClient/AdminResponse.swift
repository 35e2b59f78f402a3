package import NIOHTTP1
package import TreeModel

/// A server's answer, complete.
package struct AdminResponse: Sendable {
  /// The status code, such as 200.
  package let status: Int
  /// The headers, as sent.
  package let headers: HTTPHeaders
  /// The body, whole.
  package let body: [UInt8]
  /// Whether the connection may be used for another request.
  let keepsAlive: Bool

  /// An answer.
  init(status: Int, headers: HTTPHeaders, body: [UInt8], keepsAlive: Bool) {
    self.status = status
    self.headers = headers
    self.body = body
    self.keepsAlive = keepsAlive
  }

  /// Whether the server did what it was asked for.
  package var isSuccess: Bool { (200..<300).contains(status) }

  /// The body as a value; `null` if there is none, as with 204.
  package func json() throws(AdminClientError) -> JSON {
    guard !body.isEmpty else { return .null }
    do {
      return try JSONParser.parse(body, depthMax: 128)
    } catch {
      throw AdminClientError(
        .badResponse, "The answer of the server is no JSON (\(error)); is that address a Doubloon server?", cause: error)
    }
  }

  /// This answer, if the server did what it was asked for; else its refusal is thrown.
  package func checked() throws(AdminClientError) -> AdminResponse {
    if isSuccess { return self }
    throw AdminClientError(.refused(status: status), refusal)
  }

  /// What the server said against the request, in its own words.
  private var refusal: String {
    let json = try? JSONParser.parse(body, depthMax: 128)
    // The server would name routes, and a command has none.
    if json?["code"]?.string == "unknown_route" {
      return "The server does not know what this command asks for: it runs another version. Use the program that runs there."
    }
    if let message = json?["error"]?.string ?? json?["error"]?["message"]?.string { return message }
    return "The server answered with status \(status) and no explanation."
  }
}
