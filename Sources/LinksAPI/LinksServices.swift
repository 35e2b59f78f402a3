package import APISupport
package import Accounts
package import HTTPServer
package import Invites
package import Ledger
package import Links
import NIOHTTP1
import TreeModel

/// What links, invitations and referrals answer with.
package final class LinksServices: APIServices {
  package let context: ServerContext
  /// Nil where no links are served.
  package let links: LinkService?
  /// Nil where no invitations are sent.
  package let invites: InvitationService?
  /// Nil where it is not declared who referred whom.
  package let referrals: ReferralService?
  /// The players' accounts; nil where there are none.
  package let accounts: AccountService?

  package init(
    context: ServerContext, links: LinkService?, invites: InvitationService? = nil, referrals: ReferralService? = nil,
    accounts: AccountService? = nil
  ) {
    self.context = context
    self.links = links
    self.invites = invites
    self.referrals = referrals
    self.accounts = accounts
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<LinksServices>
package typealias RouteCall = APICall<LinksServices>

extension LinkError {
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
  init(_ fault: LinkError) {
    let status = HTTPResponseStatus(statusCode: fault.status == .failedPrecondition ? 409 : fault.status.code)
    self.init(status, fault.reason.isEmpty ? fault.status.rawValue.lowercased() : fault.reason, fault.message)
  }
}
