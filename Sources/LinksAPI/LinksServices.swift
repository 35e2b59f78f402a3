package import APISupport
package import Accounts
package import HTTPServer
package import Invites
package import Ledger
package import Links

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
