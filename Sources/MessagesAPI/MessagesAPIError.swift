package import HTTPServer
package import Messages
import NIOHTTP1
import TreeModel

/// A refusal in the form of Google's services: a canonical code with its HTTP status, and a message.
struct MessagesAPIError: Error {
  /// Google's canonical codes (`google/rpc/code.proto`) that this API answers with.
  enum Status: String {
    case invalidArgument = "INVALID_ARGUMENT"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unavailable = "UNAVAILABLE"

    /// The HTTP status of an answer with this code.
    var code: Int {
      switch self {
      case .invalidArgument: 400
      case .unauthenticated: 401
      case .permissionDenied: 403
      case .notFound: 404
      case .resourceExhausted: 429
      case .unavailable: 503
      }
    }
  }

  let status: Status
  /// For people: what is wrong, and what to do.
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ error: any Error) {
    switch error {
    case let error as MessagesAPIError: self = error
    case let error as APIError: self.init(.invalidArgument, error.message)
    case is InstanceError:
      self.init(
        .unauthenticated,
        "The installation is not known, or its token is not good: ask for a new one, or register the installation again.")
    case let error as MessageError: self.init(error.isTemporary ? .unavailable : .invalidArgument, error.message)
    default: self.init(.unavailable, "\(error)")
    }
  }

  /// `{"error": {"code": 400, "message": "…", "status": "INVALID_ARGUMENT"}}`.
  var response: HTTPResponse {
    let error: JSON = [
      "code": .int(Int64(status.code)), "message": .string(message), "status": .string(status.rawValue),
    ]
    var response = HTTPResponse.json(["error": error], status: HTTPResponseStatus(statusCode: status.code))
    if status == .resourceExhausted { response.headers.append(HTTPResponse.Header("Retry-After", "10")) }
    return response
  }
}

extension MessageError {
  fileprivate var isTemporary: Bool { if case .unavailable = self { true } else { false } }
}

/// What the domain refuses, in the form of the administrators' surface.
extension MessageError: APIErrorConvertible {
  package var apiError: APIError {
    switch self {
    case .invalid(let faults):
      var error = APIError(.badRequest, "invalid_campaign", message)
      error.details = [JSON.Member(key: "faults", value: .array(faults.map(\.json)))]
      return error
    case .badRequest: return APIError.badRequest(message)
    case .unknown: return APIError(.notFound, "not_found", message)
    case .taken: return APIError(.conflict, "already_exists", message)
    case .conflict: return APIError(.conflict, "wrong_state", message)
    case .limit: return APIError(.conflict, "too_many", message)
    case .versionChanged: return APIError(.preconditionFailed, "version_changed", message)
    case .settingsInFile: return APIError(.conflict, "settings_in_file", message)
    case .unavailable: return APIError(.serviceUnavailable, "unavailable", message)
    }
  }
}
