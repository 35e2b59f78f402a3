import StorageCore
import Synchronization
import TreeModel

/// A change of accounts on its way to the writer, where it is decided: whether an address is taken and whose it becomes is
/// one step, with nothing between looking and writing.
final class AccountChange: WriterDecision {
  private let options: AccountOptions
  private let clock: any WallClock
  private let body: @Sendable (AccountBench) throws(AccountError) -> Void
  /// What the decision made void; read by the watch once the commit is durable.
  private let outcome = Mutex<[AccountRevocation]>([])

  /// - Parameters:
  ///   - options: how accounts are kept.
  ///   - clock: by which tokens are checked.
  init(
    _ options: AccountOptions, clock: any WallClock, _ body: @escaping @Sendable (AccountBench) throws(AccountError) -> Void
  ) {
    self.options = options
    self.clock = clock
    self.body = body
  }

  var revocations: [AccountRevocation] { outcome.withLock { $0 } }

  func decide(in namespace: NamespaceID, at time: Int64, _ session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  {
    // Tokens are checked by the clock, so they are stamped by it too. The commit's time, which never runs backwards, stays
    // ahead for as long as a clock once was; what is within the skew that checks allow keeps accounts in order.
    let now = clock.now()
    let stamp = time - now <= AccountBench.skew ? time : now
    let bench = AccountBench(namespace: namespace, time: stamp, session: session, options: options)
    do throws(AccountError) {
      try body(bench)
    } catch {
      throw error.refusal
    }
    if let failure = bench.failure { throw CommitRefusal(failure) }
    outcome.withLock { $0 = bench.revocations }
    return bench.assignments
  }
}
