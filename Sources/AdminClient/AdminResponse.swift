package import NIOCore
package import NIOHTTP1
import NIOSSL
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
  package func json() throws -> JSON {
    guard !body.isEmpty else { return .null }
    do {
      return try JSONParser.parse(body, depthMax: 128)
    } catch {
      throw AdminClientError(
        .badResponse, "The answer of the server is no JSON (\(error)); is that address a Doubloon server?", cause: error)
    }
  }

  /// This answer, if the server did what it was asked for; else its refusal is thrown.
  package func checked() throws -> AdminResponse {
    if isSuccess { return self }
    throw AdminClientError(.refused(status: status), errorMessage)
  }

  /// What the server said against the request, in its own words.
  private var errorMessage: String {
    let json = try? JSONParser.parse(body, depthMax: 128)
    // The server would name routes, and a command has none.
    if json?["code"]?.string == "unknown_route" {
      return "The server does not know what this command asks for: it runs another version. Use the program that runs there."
    }
    if let message = json?["error"]?.string ?? json?["error"]?["message"]?.string { return message }
    return "The server answered with status \(status) and no explanation."
  }
}

/// Why a request has no answer, or not the one it should have.
package struct AdminClientError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for programs.
  package enum Code: Sendable, Hashable {
    /// The address is none, or needs what this client does not speak.
    case badAddress
    /// The request cannot be sent as it is.
    case badRequest
    /// Nobody listens there.
    case unreachable
    /// The connection broke before the answer was complete.
    case disconnected
    /// The answer took too long.
    case timedOut
    /// The answer is larger than the client takes.
    case tooLarge
    /// What came back is no HTTP, or no JSON.
    case badResponse
    /// The server could not prove who it is.
    case untrusted
    /// The server understood and said no.
    case refused(status: Int)
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for a person.
  package let message: String
  /// What lies below, for a log.
  package let cause: (any Error)?

  /// A failure, with the sentence that says what to do.
  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The sentence.
  package var description: String { message }
}

extension AdminClientError {
  /// The status that the server refused with.
  package var status: Int? {
    if case .refused(let status) = code { status } else { nil }
  }

  /// What an exchange failed with, as a sentence.
  package init(exchange error: any Error, with address: ServerAddress, after timeout: TimeAmount) {
    switch error {
    case let failure as HTTPExchange.ExchangeError:
      switch failure {
      case .timedOut:
        self.init(.timedOut, "\(address) did not answer within \(timeout.nanoseconds / 1_000_000_000) seconds.", cause: error)
      case .tooLarge(let limit):
        self.init(
          .tooLarge, "The answer of \(address) is larger than \(limit >> 20) MB; ask for a smaller part.", cause: error)
      case .disconnected:
        self.init(.disconnected, "\(address) closed the connection before its answer was complete.", cause: error)
      }
    case let error as ChannelError where error == .ioOnClosedChannel || error == .alreadyClosed || error == .eof:
      self.init(.disconnected, "\(address) closed the connection before its answer was complete.", cause: error)
    case let error as NIOSSLError:
      self.init(
        .untrusted,
        "\(address) could not prove who it is: its certificate is not for that name, has ended, or is vouched for by nobody "
          + "whom this machine trusts (--ca FILE names who is). \(error)", cause: error)
    case is BoringSSLError:
      self.init(.untrusted, "\(address) speaks no TLS that this client understands; is it http, not https?", cause: error)
    case let error as IOError:
      self.init(.disconnected, "The connection to \(address) broke.", cause: error)
    default:
      self.init(.badResponse, "What \(address) answered is no HTTP; is that a Doubloon server?", cause: error)
    }
  }
}
