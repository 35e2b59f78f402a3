import Credentials
import StorageCore

/// What the deployment's functions decide before an account is made and before a session begins.
extension AccountTransaction {
  /// Asks about an account that comes into being, or that is anonymous no more.
  func decideCreation(of record: inout AccountRecord, from before: AccountRecord?) throws {
    let isUpgrade = before.map { $0.isAnonymous && !record.isAnonymous } ?? false
    guard let decisions, before == nil || isUpgrade, let method = record.signInProvider else { return }
    let question = SignInQuestion(
      occasion: .creation, account: record, method: method, isUpgrade: isUpgrade, secondFactor: nil)
    try decisions.allowance(for: question)?.apply(to: &record)
  }

  /// Asks about a session that is to begin.
  ///
  /// - Returns: the account as the session finds it, and the claims of its tokens.
  func decided(_ account: AccountRecord, by provider: String, extra: String?, factor: UsedFactor?) throws
    -> (AccountRecord, String?)
  {
    guard let decisions else { return (account, extra) }
    guard !account.isDisabled else { throw AccountError.disabledAccount }
    let question = SignInQuestion(
      occasion: .signIn, account: account, method: provider, isUpgrade: false, secondFactor: factor)
    guard let allowance = try decisions.allowance(for: question) else { return (account, extra) }
    var record = account
    try allowance.apply(to: &record)
    guard !record.isDisabled else { throw AccountError.disabledAccount }
    if record != account { try save(&record, from: account) }
    return (record, try allowance.extraClaims(beside: extra))
  }
}
