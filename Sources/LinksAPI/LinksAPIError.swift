package import HTTPServer
package import Invites
package import Links
import NIOHTTP1
import TreeModel

/// A refusal in the form of Google's services: a canonical code with its HTTP status, and a message.
///
/// Errors of links and invitations become one by ``init(_:)``.
struct LinksAPIError: Error {
  /// Google's canonical codes (`google/rpc/code.proto`) that this API answers with.
  enum Status: String {
    case invalidArgument = "INVALID_ARGUMENT"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case failedPrecondition = "FAILED_PRECONDITION"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unavailable = "UNAVAILABLE"

    /// The HTTP status of an answer with this code.
    var code: Int {
      switch self {
      case .invalidArgument, .failedPrecondition: 400
      case .unauthenticated: 401
      case .permissionDenied: 403
      case .notFound: 404
      case .alreadyExists: 409
      case .resourceExhausted: 429
      case .unavailable: 503
      }
    }
  }

  /// For programs.
  let status: Status
  /// For people: what is wrong, and what to do.
  let message: String
  /// For programs that need to know more than the status: one word, or empty.
  let reason: String

  init(_ status: Status, _ message: String, reason: String = "") {
    self.status = status
    self.message = message
    self.reason = reason
  }

  /// An error of links, of invitations, or of the request's body.
  init(_ error: any Error) {
    switch error {
    case let error as LinksAPIError: self = error
    case let error as LinkError: self.init(error.status, error.message, reason: error.reason)
    case let error as InvitationError: self.init(error.status, error.message, reason: error == .suppressed ? "suppressed" : "")
    case let error as APIError: self.init(.invalidArgument, error.message)
    default: self.init(.unavailable, "\(error)")
    }
  }

  /// As Google's services say it: `{"error": {"code": 400, "message": "…", "status": "INVALID_ARGUMENT"}}`.
  var response: HTTPResponse {
    var members: [JSON.Member] = [
      .init(key: "code", value: .int(Int64(status.code))), .init(key: "message", value: .string(message)),
      .init(key: "status", value: .string(status.rawValue)),
    ]
    if !reason.isEmpty { members.append(.init(key: "details", value: [["reason": .string(reason)]])) }
    var response = HTTPResponse.json(["error": .object(members)], status: HTTPResponseStatus(statusCode: status.code))
    if status == .resourceExhausted { response.headers.append(HTTPResponse.Header("Retry-After", "1")) }
    return response
  }
}

extension LinkError {
  /// The canonical code.
  var status: LinksAPIError.Status {
    switch self {
    case .invalid, .badProof, .badReferrer: .invalidArgument
    case .unknownLink, .unknownShortLink, .unknownInvitation, .disabled, .unknownCode: .notFound
    case .duplicateIsDisabled, .unreadableParameters, .settingsInFile, .noInviter, .selfReferral, .existingPlayer,
      .referralPath, .refused:
      .failedPrecondition
    case .suffixNeedsAdministrator: .permissionDenied
    case .suffixTaken, .alreadyReferred, .clickUsed: .alreadyExists
    case .tooManyCodes, .overloaded: .resourceExhausted
    case .unavailable: .unavailable
    }
  }

  /// The word for programs that need to know more; empty for most.
  var reason: String {
    switch self {
    case .unknownShortLink: "unknown_link"
    case .disabled, .duplicateIsDisabled: "disabled"
    case .badProof, .badReferrer, .unknownCode: "bad_proof"
    case .noInviter: "no_inviter"
    case .selfReferral: "self_referral"
    case .existingPlayer: "existing_user"
    case .alreadyReferred: "already_referred"
    case .clickUsed: "used"
    default: ""
    }
  }
}

extension InvitationError {
  /// The canonical code.
  var status: LinksAPIError.Status {
    switch self {
    case .invalid: .invalidArgument
    case .unknownCampaign: .notFound
    case .suppressed: .failedPrecondition
    case .tooManyFromSender, .tooManyToRecipient: .resourceExhausted
    case .unavailable: .unavailable
    }
  }
}

// What links and invitations refuse, in the form of the administrators' surface.

extension LinksAPIError: APIErrorConvertible {
  var apiError: APIError {
    let status = HTTPResponseStatus(statusCode: self.status == .failedPrecondition ? 409 : self.status.code)
    return APIError(status, reason.isEmpty ? self.status.rawValue.lowercased() : reason, message)
  }
}

extension LinkError: APIErrorConvertible {
  package var apiError: APIError { LinksAPIError(self).apiError }
}

extension InvitationError: APIErrorConvertible {
  package var apiError: APIError { LinksAPIError(self).apiError }
}
