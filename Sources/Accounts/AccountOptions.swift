package import StorageCore

/// How accounts are kept; the defaults are those of production.
package struct AccountOptions: Sendable {
  /// Whether what nobody has proved is believed, as emulators do: identities of providers, custom tokens that are not
  /// signed; and whether codes can be looked up instead of mailed.
  package var isDevelopment = false
  /// Whether what production decides more strictly is answered as Firebase's emulator answers it, so that tests that were
  /// written against that one pass: `doubloon dev` does. Never outside development.
  package var followsEmulator = false
  /// Where the server is, for links in mails, without a slash at the end; nil where only development runs.
  package var publicURL: String?
  /// Hosts that a link in a mail may go on to; in development any.
  package var authorizedDomains: Set<String> = []
  /// For how long after a link the refresh token of before still works, in milliseconds: the answer may have been lost.
  package var linkGrace: Int64 = 60_000
  /// How long a live connection may go on with a token that its own player made void, in milliseconds: the next token is on
  /// its way.
  package var revocationGrace: Int64 = 30_000
  /// How long a mailed code is good, in milliseconds.
  package var codeLifetime: Int64 = 3_600_000
  /// How long a code that recovers an address is good: the owner may read the mail late.
  package var recoveryLifetime: Int64 = 7 * 86_400_000
  /// How long a code that was sent to a phone is good, in milliseconds.
  package var phoneCodeLifetime: Int64 = 300_000
  /// How long a player has between the first credential and the second, and to enrol an authenticator; in milliseconds.
  package var secondFactorLifetime: Int64 = 600_000
  /// `lastRefreshAt` is written at most this often, in milliseconds: it is a write of its own.
  package var refreshNoteInterval: Int64 = 3_600_000
  /// Anonymous accounts without a balance and without a referral are removed when they were unused for so long, in
  /// milliseconds; nil keeps them.
  package var anonymousLifetime: Int64? = 30 * 86_400_000
  /// Accounts, or sessions, that the clean-up looks at in one go.
  package var sweepPage = 1000
  /// Where players' own data stand beside the record that the balance is part of, as patterns with one capture: what an
  /// erasure takes.
  package var personalPaths: [String] = []
  /// New accounts for one address in an hour; nil for any number.
  package var signUpsPerHour: Int? = 1000
  /// Mailed codes that one address may ask for; nil for any number. In development nothing is mailed, and nothing counted.
  package var codesPerClient: RateLimit? = RateLimit(30, per: 3_600_000)
  /// Mailed codes that may go to one address; nil for any number.
  package var codesPerRecipient: RateLimit? = RateLimit(10, per: 3_600_000, burst: 5)
  /// How long ago a sign-in may be, in milliseconds, for what hands an account over: another address, another password, its
  /// end. Nil for any time; development does not ask, and accounts that are anonymous have no way to sign in again.
  package var recentSignIn: Int64? = 300_000
  /// How long a session may be unused, in milliseconds: then its player signs in again. Nil for ever.
  package var sessionIdleMax: Int64? = 400 * 86_400_000
  /// Sessions that one account may have; of more the oldest end.
  package var sessionsMax = 100
  /// Wrong passwords for one account from one address, after which it has to wait.
  package var failuresMax = 10
  /// Passwords that one address may set or try; nil for any number. In development nothing is counted.
  package var passwordsPerClient: RateLimit? = RateLimit(3, per: 1000, burst: 200)
  /// Passwords that are hashed at once: each takes a thread, a core and the memory of its costs.
  package var hashingThreads = 2
  /// Hashes that may wait; more are refused as busy, of the network that has most waiting first.
  package var hashingQueueMax = 64
  /// Hashes that may wait for one address.
  package var hashingQueuePerNetwork = 32
  /// Hashes that may wait for one account and one address.
  package var hashingQueuePerAccount = 8

  /// By which secret client networks, and players who were paid and left, are known again; nil where nothing is remembered.
  package var identities: IdentityHash?
  /// How long the identities of a player who was paid are remembered after the account is deleted, as keyed hashes, in
  /// milliseconds; nil: not at all.
  package var paidIdentityLifetime: Int64? = 400 * 86_400_000

  package init() {}
}
