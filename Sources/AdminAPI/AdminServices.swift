package import APISupport
package import Accounts
package import HTTPServer
package import Invites
package import Ledger
package import Links
package import StorageCore
package import TreeDatabase

/// What the administrators' surface and the operators' pages answer with. What is nil is not there, and says so.
package struct AdminServices: APIServices {
  package let context: ServerContext
  /// How much is listened to.
  package let listeners: ListenerHub
  /// Where tokens and keys get their random part.
  package let random: any RandomNumberGenerator & Sendable
  package var functions: (any FunctionOperating)?
  package var replays: (any ReplayOperating)?
  package var ledger: LedgerBook?
  package var accounts: AccountBook?
  package var links: LinkBook?
  package var invites: InviteBook?
  /// Nil where it is not declared who referred whom.
  package var referrals: ReferralBook?
  package var serviceAccounts: ServiceAccountDesk?
  /// Mail that was shown instead of sent; nil where mail is sent.
  package var mail: (any MailShowing)?
  /// The clock to move, in development.
  package var adjustableClock: AdjustableClock?
  /// Asks the system how full the disk is that the data are on; nil for data that are on none.
  package var diskSpace: @Sendable () -> DiskSpace? = { nil }

  package init(context: ServerContext, listeners: ListenerHub, random: any RandomNumberGenerator & Sendable) {
    self.context = context
    self.listeners = listeners
    self.random = random
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<AdminServices>
typealias RouteCall = APICall<AdminServices>
