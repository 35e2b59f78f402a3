package import HTTPServer
package import Links
import NIOHTTP1
import TreeModel

extension LinkFault {
  /// As Google's services say it: `{"error": {"code": 400, "message": "…", "status": "INVALID_ARGUMENT"}}`.
  package var response: HTTPResponse {
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

extension APIError {
  /// The same as the administrators' surface says it.
  init(_ fault: LinkFault) {
    let status = HTTPResponseStatus(statusCode: fault.status == .failedPrecondition ? 409 : fault.status.code)
    self.init(status, fault.reason.isEmpty ? fault.status.rawValue.lowercased() : fault.reason, fault.message)
  }
}
