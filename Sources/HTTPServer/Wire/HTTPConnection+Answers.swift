import NIOHTTP1

/// What a connection says of itself in its answers.
extension HTTPConnection {
  /// The answer with the request's name: where the client has given it one, and where somebody may look it up in the logs. The
  /// usual answer is left as it is.
  func identified(_ response: HTTPResponse, of routeClass: RouteClass) -> HTTPResponse {
    if let givenID { return response.adding("X-Request-ID", value: givenID) }
    guard routeClass == .admin || response.status.code >= 500 else { return response }
    place.request = requestCount
    return response.adding("X-Request-ID", value: place.text)
  }

  /// The answer to bytes that are no HTTP; nil where the client has gone.
  static func response(to error: any Error) -> HTTPResponse? {
    switch error {
    case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: nil
    case HTTPParserError.headerOverflow:
      .error(.requestHeaderFieldsTooLarge, message: "The request's headers are too large: shorten the URL, cookies or tokens.")
    case is HTTPParserError:
      .error(.badRequest, message: "The request is not valid HTTP/1.1: check its request line and headers.")
    default: nil
    }
  }
}
