package import NIOHTTP1
package import TreeModel

/// Why a request is answered with something else than what it asked for. The status is chosen where it is thrown or, for
/// errors of the domain, where they conform to ``APIErrorConvertible``; nowhere else.
package struct APIError: Error, Sendable {
  package let status: HTTPResponseStatus
  /// For programs: one word, stable.
  package let code: String
  /// For people: what is wrong and what to do.
  package let message: String
  package var headers: [HTTPResponse.Header] = []
  /// More for programs, beside `error` and `code`; on the admin surface only.
  package var details: [JSON.Member] = []

  package init(_ status: HTTPResponseStatus, _ code: String, _ message: String, headers: [HTTPResponse.Header] = []) {
    self.status = status
    self.code = code
    self.message = message
    self.headers = headers
  }

  package static func badRequest(_ message: String) -> APIError { APIError(.badRequest, "invalid_argument", message) }

  /// The exact words that clients look for (Firebase's REST reference, error conditions).
  package static let permissionDenied = APIError(.unauthorized, "permission_denied", "Permission denied")

  /// The same for who may know why: the reasons are in a header, for the body is what clients compare.
  package static func permissionDenied(because reasons: String?) -> APIError {
    var error = permissionDenied
    if let reasons { error.headers = [HTTPResponse.Header("X-Firebase-Auth-Debug", reasons.asHeader)] }
    return error
  }

  /// As the Firebase surfaces say it: `{"error": "…"}`.
  package var treeResponse: HTTPResponse {
    var response = HTTPResponse.error(status, message: message)
    response.headers = headers
    return response
  }

  /// As the admin surface says it: `{"error": "…", "code": "…"}`.
  var adminResponse: HTTPResponse {
    let members: [JSON.Member] = [.init(key: "error", value: .string(message)), .init(key: "code", value: .string(code))]
    var response = HTTPResponse.json(.object(members + details), status: status)
    response.headers = headers
    return response
  }
}

extension String {
  /// The text on one line, in characters that a header may have; the others are written as `\u{…}`. At most 4 KB.
  fileprivate var asHeader: String {
    var text = ""
    for scalar in unicodeScalars {
      guard text.utf8.count < 4096 else { return text + "…".asHeader }
      switch scalar {
      case "\n": text += " |"
      case " "..."~": text.unicodeScalars.append(scalar)
      default: text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return text
  }
}

/// An error of the domain that says itself how a route answers it.
///
/// The API target that owns the words conforms it. There is one answer for each kind of error; a surface that says it in other
/// words catches it and throws its own ``APIError``.
package protocol APIErrorConvertible: Error {
  /// How it is answered.
  var apiError: APIError { get }
}

extension APIError: APIErrorConvertible {
  package var apiError: APIError { self }
}

extension AccessError: APIErrorConvertible {
  package var apiError: APIError { APIError(self) }
}

extension APIError {
  /// Credentials that were not accepted.
  package init(_ error: AccessError) {
    if error.isTemporary {
      self.init(.serviceUnavailable, "unavailable", error.message, headers: [HTTPResponse.Header("Retry-After", "1")])
    } else {
      self.init(.unauthorized, "unauthenticated", error.message)
    }
  }
}
