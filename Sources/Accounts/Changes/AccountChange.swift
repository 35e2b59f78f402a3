import StorageCore
import Synchronization
import TreeModel

/// A change of accounts on its way to the writer. It is decided there, so that nothing can be written between the check (is the
/// address taken?) and the change.
final class AccountChange: WriterDecision {
  private let options: AccountOptions
  private let clock: any WallClock
  private let scope: AccountScope
  private let decisions: SignInDecisions?
  private let body: @Sendable (AccountTransaction) throws -> Void

  private struct Outcome {
    /// What the decision made void; read by the watch once the commit is durable.
    var revocations: [AccountRevocation] = []
    var failure: (any Error)?
  }

  private let outcome = Mutex(Outcome())

  /// - `options`: how accounts are kept.
  /// - `clock`: the clock that tokens are checked by.
  /// - `scope`: the accounts that it may touch.
  /// - `decisions`: what the deployment's functions decided so far; nil where they are not asked.
  init(
    _ options: AccountOptions, clock: any WallClock, scope: AccountScope = .all, decisions: SignInDecisions? = nil,
    body: @escaping @Sendable (AccountTransaction) throws -> Void
  ) {
    self.options = options
    self.clock = clock
    self.scope = scope
    self.decisions = decisions
    self.body = body
  }

  var revocations: [AccountRevocation] { outcome.withLock { $0.revocations } }

  /// Why the decision refused; nil if it did not.
  var failure: (any Error)? { outcome.withLock { $0.failure } }

  func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  {
    // Tokens are checked by the clock, so they are stamped by it too. The commit's time, which never runs backwards, stays
    // ahead for as long as a clock once was; what is within the skew that checks allow keeps accounts in order.
    let now = clock.now()
    let stamp = time - now <= AccountTransaction.skew ? time : now
    let transaction = AccountTransaction(
      namespace: namespace, scope: scope, time: stamp, session: session, options: options, decisions: decisions)
    do {
      try body(transaction)
    } catch {
      outcome.withLock { $0.failure = error }
      if case .unavailable(let message)? = error as? AccountError { throw CommitError(.unavailable, message) }
      throw CommitError(.rejected, "The account does not allow it: \(error)")
    }
    if let failure = transaction.failure { throw CommitError(failure) }
    outcome.withLock { $0.revocations = transaction.revocations }
    return transaction.assignments
  }
}
