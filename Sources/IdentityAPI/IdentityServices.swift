package import APISupport
package import Accounts
package import Credentials
package import HTTPServer

/// What the accounts' surface answers with.
package final class IdentityServices: APIServices {
  package let context: ServerContext
  /// The players' accounts; nil where there are none.
  package let accounts: AccountService?
  /// The keys that tokens are signed with; nil where no token is signed.
  package let keys: CurrentKeys?

  package init(context: ServerContext, accounts: AccountService?, keys: CurrentKeys? = nil) {
    self.context = context
    self.accounts = accounts
    self.keys = keys
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<IdentityServices>
typealias RouteCall = APICall<IdentityServices>
